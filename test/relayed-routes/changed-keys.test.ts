import { beforeAll, describe, expect, it } from '@jest/globals'
import { keyIdOf } from '#core/api-key.ts'
import { generateApiKey, type KeySettings, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { CHAT, chatAnswer, FREE, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'

const rig = useOpened(() =>
  startRelayRig({
    watch: (operation) => {
      reads += operation === 'GetItem' ? 1 : 0
    },
  }),
)
let reads = 0
beforeAll(async () => {
  rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
})

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })
const set = (key: string, settings: KeySettings) =>
  setApiKey(rig.table, { keyId: keyIdOf(key) ?? '', settings, actor: { name: 'alice', role: 'operator' } })

/** A key that the handlers have read within the last minute. */
async function knownKey(ratePerMinute?: number): Promise<{ id: string; key: string }> {
  const { id } = await rig.tenant()
  const key = generateApiKey()
  await storeApiKey(rig.table, { key, tenantId: id, models: null, ratePerMinute }, TESTER)
  expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 200 })
  return { id, key }
}

describe('a key that a warm instance knows and that is changed', () => {
  it.each([
    ['a request that is billed', CHAT],
    ['a request at a price of nothing', FREE],
  ])('serves %s as before, where the change allows it, with one bill', async (_, model) => {
    const { id, key } = await knownKey()
    await set(key, { name: 'New', models: [CHAT, FREE] })
    expect(await rig.send(chat(model), { key })).toMatchObject({ statusCode: 200 })
    expect((await rig.rows(id)).filter(({ kind }) => kind === 'settle')).toHaveLength(model === CHAT ? 1 : 0)
  })

  it.each([CHAT, FREE])(
    'does not know a model from the next request on that it may not use any more: %s',
    async (model) => {
      const { id, key } = await knownKey()
      await set(key, { models: ['image-a'] })
      expect(await rig.send(chat(model), { key })).toMatchObject({ statusCode: 404 })
      expect(await rig.rows(id)).toEqual([])
    },
  )

  it.each([CHAT, FREE])('knows a model from the next request on that it may use now: %s', async (model) => {
    const { key } = await knownKey()
    await set(key, { models: ['image-a'] })
    expect(await rig.send(chat(model), { key })).toMatchObject({ statusCode: 404 })
    await set(key, { models: [model] })
    expect(await rig.send(chat(model), { key })).toMatchObject({ statusCode: 200 })
  })

  it('has no rate from the next request on when its rate is removed', async () => {
    const { key } = await knownKey(5)
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 429 })
    await set(key, { ratePerMinute: null })
    expect(await rig.send(chat(FREE), { key })).toMatchObject({ statusCode: 200 })
  })

  it('is held to its new rate from the next request on where it had none', async () => {
    const { key } = await knownKey()
    await set(key, { ratePerMinute: 5 })
    expect(await rig.send(chat(CHAT), { key })).toMatchObject({ statusCode: 200 })
    expect(await rig.send(chat(CHAT), { key })).toMatchObject({ statusCode: 429 })
  })

  it('is held to a lower rate from the next request on, which counts what the key has sent by the earlier one', async () => {
    const { key } = await knownKey(60)
    await Promise.all(Array.from({ length: 8 }, () => rig.send(chat(FREE), { key })))
    await set(key, { ratePerMinute: 5 })
    expect(await rig.send(chat(CHAT), { key })).toMatchObject({ statusCode: 429 })
  })

  it('counts by its new rate a request that begins again, and tells the client so', async () => {
    const { key } = await knownKey(6_000)
    await set(key, { ratePerMinute: 10 })
    const { statusCode, headers } = await rig.send(chat(CHAT), { key })
    const { 'x-ratelimit-limit-requests': limit, 'x-ratelimit-remaining-requests': left } = Object(headers)
    expect({ statusCode, limit, left }).toEqual({ statusCode: 200, limit: '10', left: '1' })
  })

  it('counts a request once that begins again', async () => {
    const { key } = await knownKey(10)
    await set(key, { name: 'New' })
    const { statusCode, headers } = await rig.send(chat(CHAT), { key })
    expect({ statusCode, left: Object(headers)['x-ratelimit-remaining-requests'] }).toEqual({
      statusCode: 200,
      left: '0',
    })
  })

  it('is refused like a revoked one when it is made to expire', async () => {
    const { key } = await knownKey()
    await set(key, { expiresAt: 1_000 })
    expect(await rig.send(chat(CHAT), { key })).toMatchObject({ statusCode: 401 })
  })

  it('is read once for the change, and not again for the requests after it', async () => {
    const { key } = await knownKey()
    await rig.send(chat(CHAT), { key })
    await set(key, { name: 'New' })
    const before = reads
    await rig.send(chat(CHAT), { key })
    expect(reads - before).toBe(1)
    await rig.send(chat(CHAT), { key })
    expect(reads - before).toBe(1)
  })
})
