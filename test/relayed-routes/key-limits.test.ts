import { beforeAll, describe, expect, it } from '@jest/globals'
import { keyIdOf } from '#core/api-key.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { CHAT, chatAnswer, FREE, type RelayOperation, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'

const rig = useOpened(startRelayRig)
beforeAll(async () => {
  rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
})

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })

/** A tenant with a key that may send one request in twelve seconds. */
async function limitedTenant(): Promise<{ id: string; key: string }> {
  const { id } = await rig.tenant()
  const key = generateApiKey()
  await storeApiKey(rig.table, { key, tenantId: id, models: null, ratePerMinute: 5 }, TESTER)
  return { id, key }
}

const LIMIT_REACHED = {
  error: {
    message: expect.stringMatching(
      /^rate limit exceeded: this key may send 5 a minute, and 1 at once after a rest: wait \d+ s$/,
    ),
    type: 'rate_limit_error',
    param: null,
    code: 'rate_limit_exceeded',
  },
}

describe('a key at its rate', () => {
  it.each([
    ['list-models 429', 'list-models', {}],
    ['get-model 429', 'get-model', { model: CHAT }],
  ] as const)('%s: is told when to come again', async (_, operation: RelayOperation, pathParameters) => {
    const { key } = await limitedTenant()
    const call = { operation, key, pathParameters }
    const first = await rig.sendBuffered('', call)
    expect(first).toMatchObject({ statusCode: 200, headers: { 'x-ratelimit-remaining-requests': '0' } })
    const { statusCode, headers, body } = await rig.sendBuffered('', call)
    expect({ statusCode, body: JSON.parse(body) }).toStrictEqual({ statusCode: 429, body: LIMIT_REACHED })
    expect(headers).toMatchObject({
      'retry-after': expect.stringMatching(/^([1-9]|1[0-7])$/),
      'x-ratelimit-limit-requests': '5',
      'x-ratelimit-remaining-requests': '0',
    })
  })

  it('is refused on relayed routes before its body is looked at, whole or streamed, and nothing is billed', async () => {
    const { id, key } = await limitedTenant()
    const first = await rig.send(chat(CHAT), { key })
    expect(first).toMatchObject({ statusCode: 200, headers: { 'x-ratelimit-remaining-requests': '0' } })
    const rows = await rig.rows(id)
    const { statusCode, headers, text } = await rig.send('{', { key })
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({ statusCode: 429, body: LIMIT_REACHED })
    expect(headers).toMatchObject({ 'retry-after': expect.stringMatching(/^([1-9]|1[0-7])$/) })
    expect(headers).not.toHaveProperty('x-should-retry')
    expect(await rig.sendBuffered(chat(CHAT), { key })).toMatchObject({ statusCode: 429 })
    expect(await rig.rows(id)).toEqual(rows)
  })

  it('shares its rate among all routes', async () => {
    const { key } = await limitedTenant()
    await rig.sendBuffered('', { operation: 'list-models', key })
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 429 })
  })

  it('has none of it on the key beside it', async () => {
    const { id, key } = await limitedTenant()
    const other = generateApiKey()
    await storeApiKey(rig.table, { key: other, tenantId: id, models: null }, TESTER)
    await rig.sendBuffered('', { operation: 'list-models', key })
    expect(await rig.sendBuffered('', { operation: 'list-models', key: other })).toMatchObject({ statusCode: 200 })
  })
})

describe('a key that a warm instance knows', () => {
  const requests = [
    ['a request that is billed', (key: string) => rig.send(chat(CHAT), { key })],
    ['a request at a price of nothing', (key: string) => rig.send(chat(FREE), { key })],
    ['a request that is wrong', (key: string) => rig.send('{', { key })],
    ['the list of models', (key: string) => rig.sendBuffered('', { operation: 'list-models', key })],
  ] as const

  it.each(requests)('is refused from the next request on when its tenant is suspended: %s', async (_, send) => {
    const { id, key } = await rig.tenant()
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 200 })
    await suspendTenant(rig.table, id, { actor: TESTER })
    expect(await send(key)).toMatchObject({ statusCode: 401 })
    await resumeTenant(rig.table, id, { actor: TESTER })
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 200 })
  })

  it.each(requests)('is refused from the next request on when it is made to end: %s', async (_, send) => {
    const { id, key } = await rig.tenant()
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 200 })
    const replaces = { keyId: keyIdOf(key) ?? '', endsAt: Date.now(), expiresAt: null }
    await storeApiKey(rig.table, { key: generateApiKey(), tenantId: id, models: null, replaces }, TESTER)
    expect(await send(key)).toMatchObject({ statusCode: 401 })
  })

  it('and that is at its rate is told that it was suspended, and not when to come again', async () => {
    const { id, key } = await limitedTenant()
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 200 })
    await suspendTenant(rig.table, id, { actor: TESTER })
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 401 })
  })
})
