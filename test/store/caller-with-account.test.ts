import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { createCallerWithAccountReader } from '#store/caller-with-account.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, TESTER, type TestTenant } from '../engines/video-jobs.ts'

const NOW = Math.trunc(Date.now() / 1000)

const { table } = useTestTable()
let requests: string[]
beforeAll(async () => {
  table.client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        requests.push(String(commandName))
        return await next(args)
      },
    { step: 'initialize' },
  )
})

let tenant: TestTenant
let find: ReturnType<typeof createCallerWithAccountReader>
beforeEach(async () => {
  requests = []
  tenant = await openTenant(table, '10')
  find = createCallerWithAccountReader()
})

/** What a key sees, and what it asked of the table. */
async function request({ keyDigest }: Pick<TestTenant, 'keyDigest'> = tenant) {
  requests = []
  const found = await find(table, { keyDigest, nowSeconds: NOW })
  return { tenantId: found?.caller.tenantId, granted: found?.account.balance.granted, requests }
}

describe('a caller and its account', () => {
  it('are read in two requests for a key never seen, in one request from then on', async () => {
    const found = { tenantId: tenant.tenantId, granted: parseCredits('10') }
    expect(await request()).toEqual({ ...found, requests: ['GetItemCommand', 'BatchGetItemCommand'] })
    expect(await request()).toEqual({ ...found, requests: ['BatchGetItemCommand'] })
  })

  it('are read afresh each time', async () => {
    await request()
    await grantTenant(table, tenant.tenantId, { credits: parseCredits('5'), actor: TESTER })
    expect(await request()).toMatchObject({ granted: parseCredits('15') })
  })

  it('are nothing to a key that was revoked since it was seen', async () => {
    await request()
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    expect(await request()).toMatchObject({ tenantId: undefined, granted: undefined })
  })

  it('are nothing to an unknown key, however often it is tried', async () => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await request({ keyDigest: 'digest-of-nobody' })).toEqual({ requests: ['GetItemCommand'] })
    }
  })

  it('never are one tenant and the balance of another', async () => {
    await request()
    const other = await openTenant(table, '77')
    const { keyDigest: digest } = tenant
    await putApiKey(table, { keyId: 'moved', tenantId: other.tenantId, models: null, createdAt: 0, digest }, TESTER)
    expect(await request()).toMatchObject({ tenantId: other.tenantId, granted: parseCredits('77') })
  })
})
