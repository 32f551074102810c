import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { reserveJob, TESTER } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('get-balance')
})
beforeEach(async () => {
  client = await routes.newClient('10')
})

describe('get-balance', () => {
  it('get-balance 200: shows the balance of the tenant and the key, the first time and the next', async () => {
    await reserveJob(routes.table, client.tenant)
    const first = await handle(client)
    expect([first.status, first.json]).toEqual([
      200,
      {
        object: 'balance',
        unit: 'credit',
        available: '9.3',
        held: '0.7',
        spent: '0',
        granted: '10',
        key: { id: client.keyId, name: null, models: null, expires_at: null, rate: null, budget: null },
      },
    ])
    expect((await handle(client)).json).toEqual(first.json)
  })

  it('get-balance 200: shows the name, the models, the rate and the end of the key', async () => {
    const key = 'a-key-with-limits-of-its-own'
    const expiresAt = Math.trunc(Date.now() / 1000) + 3600
    const limits = { models: ['chat-default'], name: 'search', ratePerMinute: 300, expiresAt: expiresAt * 1000 }
    const keyId = await storeApiKey(routes.table, { key, tenantId: client.tenant.tenantId, ...limits }, TESTER)
    const { json } = await handle(client, { key })
    expect(json.key).toEqual({
      id: keyId,
      name: 'search',
      models: ['chat-default'],
      expires_at: expiresAt,
      rate: { per_minute: 300, burst: 60 },
      budget: null,
    })
  })

  it('get-balance 401: refuses an unknown key, and one that was revoked since it was seen', async () => {
    expect((await handle(client, { key: 'unknown' })).json.error.code).toBe('invalid_api_key')
    expect((await handle(client)).status).toBe(200)
    await revokeApiKey(routes.table, client.keyId, TESTER)
    expect((await handle(client)).status).toBe(401)
  })

  it('get-balance 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await handle(client)).status).toBe(200)
    const { status, headers } = await handle(client)
    expect([status, headers['retry-after']]).toEqual([429, expect.stringMatching(/^(5\d|6[0-5])$/)])
  })

  it('get-balance 400: refuses a strict request with a query parameter, which it would ignore', async () => {
    const { status, json } = await handle(client, { query: { unit: 'euro' }, headers: { prefer: 'handling=strict' } })
    expect([status, json.error.param]).toEqual([400, 'unit'])
  })
})
