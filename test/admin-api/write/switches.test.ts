import { beforeEach, describe, expect, it } from '@jest/globals'
import { readSwitches } from '#store/switches.ts'
import type { Table } from '#store/table/table.ts'
import { PER_SECOND_MODEL } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { startWriteRig, type WriteRig, writeCaller } from './write-rig.ts'

const rig = useOpened(startWriteRig)
let table: Table
let call: WriteRig['call']
beforeEach(async () => {
  table = await rig.engine.fresh()
  call = writeCaller(table)
})

const switches = async () => (await readSwitches(table)).switches

describe('change-channel', () => {
  it('change-channel 200: makes all changes at once, each with its author, and says so', async () => {
    const body = { disabled: true, weight: 0.5, priority: 3 }
    const changed = await call('PATCH', '/channels/main', { body })
    expect(changed).toMatchObject({
      status: 200,
      body: {
        ...{ kind: 'channel', id: 'main', changed: true },
        settings: [
          { setting: 'state', value: 'disabled', by: 'ada@host' },
          { setting: 'weight', value: 0.5 },
          { setting: 'priority', value: 3 },
        ],
      },
    })
    expect((await readSwitches(table)).version).toBe(1)
    const back = await call('PATCH', '/channels/main', { body: { disabled: false } })
    expect(back.body.settings).toMatchObject([{ setting: 'weight' }, { setting: 'priority' }])
  })

  it('two owners at once lose nothing', async () => {
    await Promise.all([
      call('PATCH', '/channels/main', { body: { weight: 2 } }),
      call('PATCH', '/channels/spare', { body: { weight: 3 } }),
      call('PATCH', '/channels/main', { body: { priority: 4 } }),
    ])
    const { channels } = await switches()
    expect(channels).toMatchObject({
      main: { weight: { value: 2 }, priority: { value: 4 } },
      spare: { weight: { value: 3 } },
    })
  })

  it.each([
    ['no change', {}, null],
    ['a weight of nothing', { weight: 0 }, 'weight'],
    ['a weight in words', { weight: '1' }, 'weight'],
    ['a huge weight', { weight: 1e300 }, 'weight'],
    ['half a priority', { priority: 0.5 }, 'priority'],
    ['an unknown field', { enabled: true }, 'enabled'],
    ['a good field beside a broken one', { disabled: true, priority: -1 }, 'priority'],
  ])('change-channel 400: %s, and nothing is switched', async (_, body, param) => {
    const refused = await call('PATCH', '/channels/main', { body })
    expect(refused).toMatchObject({ status: 400, body: { error: { param } } })
    expect((await readSwitches(table)).version).toBe(0)
  })
})

describe('change-model and the ends of switches', () => {
  it('change-model 200: a model is disabled and enabled again', async () => {
    const path = `/models/${encodeURIComponent(PER_SECOND_MODEL)}`
    expect((await call('PATCH', path, { body: { disabled: true } })).body).toMatchObject({
      ...{ kind: 'model', id: PER_SECOND_MODEL, changed: true },
      settings: [{ setting: 'state', value: 'disabled' }],
    })
    expect((await call('PATCH', path, { body: { disabled: false } })).body).toMatchObject({
      changed: true,
      settings: [],
    })
    expect(await switches()).toEqual({ channels: {}, models: {} })
  })

  it('clear-channel 200 and clear-model 200: the configuration decides again after a clearing', async () => {
    await call('PATCH', '/channels/main', { body: { disabled: true, weight: 9 } })
    const cleared = await call('DELETE', '/channels/main/switches')
    expect(cleared).toMatchObject({ status: 200, body: { changed: true, settings: [] } })
    await call('PATCH', `/models/${PER_SECOND_MODEL}`, { body: { disabled: true } })
    expect(await call('DELETE', `/models/${PER_SECOND_MODEL}/switches`)).toMatchObject({
      status: 200,
      body: { settings: [] },
    })
    expect(await switches()).toEqual({ channels: {}, models: {} })
  })

  it.each([
    ['change-channel 404', 'PATCH', '/channels/{id}', { disabled: true }],
    ['clear-channel 404', 'DELETE', '/channels/{id}/switches', undefined],
    ['change-model 404', 'PATCH', '/models/{id}', { disabled: true }],
    ['clear-model 404', 'DELETE', '/models/{id}/switches', undefined],
  ])('%s: an id that the configuration does not have', async (_, method, path, body) => {
    for (const id of ['nothing', 'constructor', '__proto__', 'org%2Fmodel', 'x'.repeat(5_000)]) {
      const refused = await call(method, path.replace('{id}', id), body === undefined ? {} : { body })
      expect(refused).toMatchObject({ status: 404 })
    }
    expect((await readSwitches(table)).version).toBe(0)
  })
})
