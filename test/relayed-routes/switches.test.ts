import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { keyIdOf } from '#core/api-key.ts'
import type { ChannelChange, ModelChange } from '#core/catalogue/switches.ts'
import { systemClock } from '#platform/clock.ts'
import { SWITCHES_MILLISECONDS_MAX } from '#store/current-catalogue.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { changeSwitchesTogether, readSwitches } from '#store/switches.ts'
import { CHAT, FREE, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { BILLED, errorIn, RELAYED } from '../engines/relayed-samples.ts'
import { TESTER } from '../engines/video-jobs.ts'

const BY = { actor: { name: 'operator', role: 'operator' }, at: 1 } as const

let rig: RelayRig
let skewMilliseconds = 0
beforeAll(async () => {
  jest.spyOn(systemClock, 'nowMilliseconds').mockImplementation(() => Date.now() + skewMilliseconds)
  rig = await startRelayRig({ channels: 2 })
})
beforeEach(async () => {
  const { channels, models } = (await readSwitches(rig.table)).switches
  for (const id of Object.keys(channels)) {
    await changeSwitchesTogether(rig.table, [{ kind: 'channel', id, action: 'clear' }], BY)
  }
  for (const id of Object.keys(models)) {
    await changeSwitchesTogether(rig.table, [{ kind: 'model', id, action: 'clear' }], BY)
  }
  age()
})
afterAll(() => rig.close())

/** Makes what every instance knows of the switches too old. */
function age(): void {
  skewMilliseconds += SWITCHES_MILLISECONDS_MAX
}

const change = (asked: ChannelChange | ModelChange) => changeSwitchesTogether(rig.table, [asked], BY)
const disableChannels = async (...ids: string[]) => {
  for (const id of ids) {
    await change({ kind: 'channel', id, action: 'disable' })
  }
}

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }] }

describe('a disabled channel', () => {
  it('gets no request once the switches are 15 seconds old, and again after it was enabled', async () => {
    const servedBy = async () => {
      const counts = rig.upstreams.map(({ calls }) => calls.length)
      expect((await rig.send(BODY)).statusCode).toBe(200)
      return rig.upstreams.findIndex(({ calls }, index) => calls.length > (counts[index] ?? 0))
    }
    expect(await servedBy()).toBe(0)
    await disableChannels('channel-0')
    expect(await servedBy()).toBe(0)
    age()
    expect(await servedBy()).toBe(1)
    await change({ kind: 'channel', id: 'channel-0', action: 'enable' })
    age()
    expect(await servedBy()).toBe(0)
  })

  it.each(BILLED)('leaves $operation without a channel: 503, and nothing is reserved', async (route) => {
    const { operation, body } = route
    await disableChannels('channel-0', 'channel-1')
    const tenant = await rig.tenant('1')
    const sent = await rig.send(body, { operation, key: tenant.key })
    expect(sent.statusCode).toBe(503)
    expect(JSON.parse(sent.text)).toMatchObject(errorIn(route, { code: 'no_channel_available' }))
    expect(await rig.rows(tenant.id)).toEqual([])
    expect(await rig.balance(tenant.id)).toEqual({ available: '1', held: '0', spent: '0' })
  })

  it('leaves a free model without a channel too', async () => {
    await disableChannels('channel-0', 'channel-1')
    expect((await rig.send({ ...BODY, model: FREE })).statusCode).toBe(503)
  })

  it('tells a client whose key was revoked of the key first', async () => {
    const { key } = await rig.tenant()
    await disableChannels('channel-0', 'channel-1')
    age()
    expect((await rig.send(BODY, { key })).statusCode).toBe(503)
    await revokeApiKey(rig.table, keyIdOf(key) ?? '', TESTER)
    expect((await rig.send(BODY, { key })).statusCode).toBe(401)
  })
})

describe('the priority of a channel', () => {
  it('is replaced by the one that an operator set', async () => {
    await change({ kind: 'channel', id: 'channel-0', action: 'priority', value: 9 })
    age()
    const before = rig.upstreams[1]?.calls.length ?? 0
    await rig.send(BODY)
    expect(rig.upstreams[1]?.calls).toHaveLength(before + 1)
  })
})

describe('a disabled model', () => {
  it.each(RELAYED)('is unknown to $operation, as any unknown model is', async ({ operation, body }) => {
    const unknown = await rig.send({ ...body, model: 'nothing' }, { operation })
    await change({ kind: 'model', id: body.model, action: 'disable' })
    age()
    const disabled = await rig.send(body, { operation })
    expect(disabled.statusCode).toBe(404)
    // The model that was probably meant depends on the name that was asked for.
    const withoutNearest = (text: string) => text.replace(/: did you mean [^"]+\?/, '')
    expect(withoutNearest(disabled.text.replaceAll(body.model, 'nothing'))).toBe(withoutNearest(unknown.text))
  })

  it('is absent from the list, and not found by its id', async () => {
    const list = async () => {
      const { body } = await rig.sendBuffered('', { operation: 'list-models' })
      return JSON.parse(body).data.map(({ id }: { id: string }) => id)
    }
    const get = async () => {
      const call = { operation: 'get-model', pathParameters: { model: CHAT } } as const
      return (await rig.sendBuffered('', call)).statusCode
    }
    expect(await list()).toContain(CHAT)
    expect(await get()).toBe(200)
    await change({ kind: 'model', id: CHAT, action: 'disable' })
    age()
    expect(await list()).not.toContain(CHAT)
    expect(await get()).toBe(404)
  })

  it('leaves other models alone', async () => {
    await change({ kind: 'model', id: CHAT, action: 'disable' })
    age()
    expect((await rig.send({ ...BODY, model: FREE })).statusCode).toBe(200)
  })
})
