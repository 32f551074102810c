import { describe, expect, it } from '@jest/globals'
import { modelClear, modelDisable, modelEnable, modelList } from '../../../lib/cli/admin/channels.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useSwitching } from './switching.ts'

const { run, switches, deploy } = useSwitching()

const BY = { by: 'tester@test', at: expect.any(Number) }

/** The configuration with `famA-2` off. */
function configWithout() {
  const { config } = testCatalogue()
  return { ...config, models: config.models.map((model) => ({ ...model, enabled: model.id !== 'famA-2' })) }
}

describe('model commands', () => {
  it('disable a model, and leave no switch when the model is enabled again', async () => {
    await run(modelDisable, 'famA-2')
    expect((await switches()).models).toEqual({ 'famA-2': { enabled: { value: false, ...BY } } })
    await run(modelEnable, 'famA-2')
    expect((await switches()).models).toEqual({})
  })

  it('enable a model that the configuration disables, until the switch is cleared', async () => {
    deploy(configWithout())
    await run(modelEnable, 'famA-2')
    expect((await switches()).models).toEqual({ 'famA-2': { enabled: { value: true, ...BY } } })
    await run(modelClear, 'famA-2')
    expect((await switches()).models).toEqual({})
  })

  it.each([modelDisable, modelEnable, modelClear])(
    'refuse an unknown model, with a suggestion (%#)',
    async (command) => {
      await expect(run(command, 'famA-3')).rejects.toThrow('no model famA-3; did you mean famA-2?')
    },
  )

  it('list every model with its state, and the switches of models that left the configuration', async () => {
    await run(modelDisable, 'famA-2')
    await run(modelDisable, 'famB-1.0-t2v')
    const { config } = testCatalogue()
    deploy({
      ...config,
      channels: config.channels.map((channel) => ({ ...channel, models: { 'famA-2': 'upstream-a' } })),
      models: config.models.filter(({ id }) => id === 'famA-2'),
    })
    const { json, text } = await run(modelList)
    const settings = [{ setting: 'state', value: 'disabled', by: 'tester@test', since: expect.any(String) }]
    expect(json).toMatchObject({
      models: [
        {
          id: 'famA-2',
          kind: 'video',
          state: 'disabled',
          configured: 'enabled',
          channels: ['main', 'spare'],
          settings,
        },
        { id: 'famB-1.0-t2v', kind: null, state: 'not configured', configured: null, channels: [], settings },
      ],
    })
    expect(text).toMatch(/famA-2 +video +disabled +main,spare +disabled by tester@test since/)
  })

  it('list the state of the configuration where nothing is switched', async () => {
    deploy(configWithout())
    const models = Object((await run(modelList)).json).models
    expect(models.map(({ state, settings }: { state: string; settings: unknown[] }) => [state, settings])).toEqual([
      ['enabled', []],
      ['disabled', []],
    ])
  })
})
