import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { type CountedSettlement, countedUsage, dayOf } from '#core/pricing/usage.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { countUsage } from '#store/usage.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('get-usage')
})
beforeEach(async () => {
  client = await routes.newClient()
})

async function settle(changes: Partial<CountedSettlement> = {}): Promise<void> {
  const settlement = {
    tenantId: client.tenant.tenantId,
    at: Date.now(),
    keyId: client.keyId,
    operation: 'create-chat-completion',
    model: 'chat-default',
    usage: countedUsage({ inputTokens: 5, outputTokens: 7 }),
    actual: parseCredits('0.000021'),
    ...changes,
  }
  await routes.table.transact(countUsage([settlement]))
}

const usage = async (query?: Readonly<Record<string, string>>) => await handle(client, query ? { query } : {})

describe('get-usage', () => {
  it('get-usage 200: adds up the settlements of the tenant alone, by day without parameters', async () => {
    await settle()
    await settle({ operation: 'create-video-job', model: 'famB-1.1-t2v', actual: parseCredits('0.7') })
    await settle({ tenantId: (await routes.newClient()).tenant.tenantId })
    const { status, json } = await usage()
    expect(status).toBe(200)
    expect(json).toMatchObject({
      object: 'list',
      to: dayOf(Date.now()),
      group_by: ['day'],
      data: [{ day: dayOf(Date.now()), requests: 2, input_tokens: 10, output_tokens: 14, cost: '0.700021' }],
      total: { requests: 2, cost: '0.700021' },
      has_more: false,
      next: null,
    })
  })

  it('get-usage 200: continues a page by its cursor', async () => {
    await settle({ model: 'a' })
    await settle({ model: 'b' })
    const first = await usage({ group_by: 'model,key', limit: '1' })
    expect(first.json).toMatchObject({
      data: [{ model: 'a', key: client.keyId }],
      total: { requests: 2 },
      has_more: true,
    })
    const second = await usage({ after: first.json.next, limit: '1' })
    expect(second.json).toMatchObject({ data: [{ model: 'b' }], total: { requests: 2 }, has_more: false, next: null })
  })

  it('get-usage 200: shows one model, one key or one operation, also in the total', async () => {
    await settle()
    await settle({ keyId: 'Zz9yX8w7' })
    await settle({ operation: 'create-embedding', model: 'text-embedding-3-small' })
    const counted = async (query: Readonly<Record<string, string>>) => (await usage(query)).json.total.requests
    expect(await counted({ model: 'chat-default' })).toBe(2)
    expect(await counted({ model: 'chat-default', key: client.keyId })).toBe(1)
    expect(await counted({ operation: 'create-embedding' })).toBe(1)
    expect(await counted({ operation: 'create-embedding', model: 'chat-default' })).toBe(0)
    const { json } = await usage({ model: 'chat-default', group_by: 'model,key' })
    expect(json.data).toMatchObject([{ model: 'chat-default' }, { model: 'chat-default' }])
  })

  it('get-usage 200: gives the name of each key that it groups by, null for one without a name or that is gone', async () => {
    const tenantId = client.tenant.tenantId
    const keyId = await storeApiKey(
      routes.table,
      { key: generateApiKey(), tenantId, models: null, name: 'search' },
      TESTER,
    )
    await settle()
    await settle({ keyId })
    await settle({ keyId: 'Zz9yX8w7' })
    const { data } = (await usage({ group_by: 'key' })).json
    const names = Object.fromEntries(data.map(({ key, key_name }: Record<string, string>) => [key, key_name]))
    expect(names).toEqual({ [client.keyId]: null, [keyId]: 'search', Zz9yX8w7: null })
  })

  it('get-usage 200: leaves out other days', async () => {
    await settle({ at: Date.parse('2026-03-01T00:00:00Z') })
    await settle({ at: Date.parse('2026-03-02T00:00:00Z') })
    const { json } = await usage({ from: '2026-03-01', to: '2026-03-01' })
    expect(json.total.requests).toBe(1)
  })

  it('get-usage 200: has no usage of a tenant without settlements', async () => {
    expect((await usage()).json).toMatchObject({ data: [], total: { requests: 0, cost: '0' } })
  })

  it.each([
    ['from', { from: '2026-11-31' }],
    ['to', { to: 'now' }],
    ['group_by', { group_by: 'day,day' }],
    ['limit', { limit: '1001' }],
    ['after', { after: 'x' }],
  ])('get-usage 400: names `%s` for the query %j', async (param, query) => {
    const { status, json } = await usage(query)
    expect(status).toBe(400)
    expect(json).toEqual({
      error: { message: expect.stringContaining(param), type: 'invalid_request_error', param, code: null },
    })
  })

  it('get-usage 401: refuses an unknown key', async () => {
    const { status, json } = await handle(client, { key: 'unknown' })
    expect([status, json.error.code]).toEqual([401, 'invalid_api_key'])
  })

  it('get-usage 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await usage()).status).toBe(200)
    const { status, headers } = await usage()
    expect([status, headers['retry-after']]).toEqual([429, expect.stringMatching(/^(5\d|6[0-5])$/)])
  })
})
