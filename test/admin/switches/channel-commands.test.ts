import { describe, expect, it } from 'vitest'
import { readAudit } from '#store/audit/read-audit.ts'
import {
  channelClear,
  channelDisable,
  channelEnable,
  channelPrioritySet,
  channelWeightSet,
} from '../../../lib/cli/admin/channels.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { useSwitching } from './switching.ts'

const { run, switches, warnings, deploy, table } = useSwitching()

const BY = { by: 'tester@test', at: expect.any(Number) }

describe('channel-commands', () => {
  it('switch a channel in the name of the person, and record it', async () => {
    await run(channelWeightSet, 'main', '0.5')
    await run(channelPrioritySet, 'main', '0')
    await run(channelDisable, 'main')
    expect(await switches()).toEqual({
      channels: {
        main: { enabled: { value: false, ...BY }, weight: { value: 0.5, ...BY }, priority: { value: 0, ...BY } },
      },
      models: {},
    })
    const { entries } = await readAudit(table(), { limit: 10 })
    expect(entries.map(({ actor, action, target }) => `${actor}: ${action} ${target}`).sort()).toEqual([
      'tester@test: channel disable main',
      'tester@test: channel priority main',
      'tester@test: channel weight main',
    ])
  })

  it('end a disablement alone, or everything', async () => {
    await run(channelWeightSet, 'main', '2')
    await run(channelDisable, 'main')
    await run(channelEnable, 'main')
    expect((await switches()).channels).toEqual({ main: { weight: { value: 2, ...BY } } })
    await run(channelClear, 'main')
    expect((await switches()).channels).toEqual({})
  })

  it('say what is set now, since when, and whether anything changed', async () => {
    const { json, text } = await run(channelDisable, 'main')
    const settings = [{ setting: 'state', value: 'disabled', by: 'tester@test', since: expect.any(String) }]
    expect(json).toEqual({ kind: 'channel', id: 'main', changed: true, settings })
    expect(text).toMatch(/^channel main: disabled by tester@test since .*; every instance sees it within 15 seconds$/)
    const again = await run(channelDisable, 'main')
    expect(again.json).toEqual({ kind: 'channel', id: 'main', changed: false, settings })
    expect(again.text).toMatch(/; nothing had to change$/)
  })

  it.each([channelDisable, channelEnable, channelClear])(
    'refuse an unknown channel, with a suggestion (%#)',
    async (command) => {
      await expect(run(command, 'mian')).rejects.toThrow('no channel mian; did you mean main?')
      await expect(run(command, 'something-else')).rejects.toThrow('no channel something-else; `channel list` shows')
      expect(await switches()).toEqual({ channels: {}, models: {} })
    },
  )

  it('clear a channel that left the configuration, and set nothing for it', async () => {
    await run(channelDisable, 'main')
    deploy(testCatalogue({}, { main: { id: 'other' } }).config)
    await expect(run(channelEnable, 'main')).rejects.toThrow('no channel main')
    expect(await run(channelClear, 'main')).toMatchObject({ json: { changed: true, settings: [] } })
    expect((await switches()).channels).toEqual({})
  })

  it.each(['0', '-1', '1000.5', '1e3', 'half', ''])('refuse the weight %j', async (weight) => {
    await expect(run(channelWeightSet, 'main', weight)).rejects.toThrow(UsageError)
  })

  it.each(['-1', '1001', '0.5', 'first'])('refuse the priority %j', async (priority) => {
    await expect(run(channelPrioritySet, 'main', priority)).rejects.toThrow(UsageError)
  })

  it('warn of models that no enabled channel serves any more', async () => {
    await run(channelDisable, 'main')
    expect(warnings).toEqual([])
    await run(channelDisable, 'spare')
    expect(warnings).toEqual([expect.stringContaining(`no enabled channel serves ${PER_SECOND_MODEL}, famA-2:`)])
  })
})
