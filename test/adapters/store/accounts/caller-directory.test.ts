import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { CallerDirectory } from '#adapters/store/accounts/caller-directory.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { InvalidApiKeyError, ServiceUnavailableError } from '#core/errors.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { startRelayTable } from '../money/relay-table.ts'
import { openRelayingTenant, type RelayingTenant } from './relaying-tenant.ts'

const engine = useOpened(startRelayTable)
let table: TableWithClient
let lean: Table
let tenant: RelayingTenant
let reads: number
let now: number
let callers: CallerDirectory
beforeEach(async () => {
  ;({ table, lean } = await engine.fresh())
  tenant = await openRelayingTenant(table)
  reads = 0
  now = Date.now()
  callers = directory()
})

function directory(): CallerDirectory {
  const readItem: Table['readItem'] = async (key) => {
    reads += 1
    return await lean.readItem(key)
  }
  return new CallerDirectory({ readItem }, { nowMilliseconds: () => now })
}

const callerOf = ({ tenantId, keyDigest }: RelayingTenant) => ({
  tenantId,
  keyId: keyDigest.slice(0, 8),
  keyDigest,
  models: null,
})
const revoke = () => revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)

describe('looking up a key', () => {
  it('reads once and remembers for a minute, saying which of the two it was', async () => {
    expect(await callers.lookUp(tenant.keyDigest)).toEqual({ caller: callerOf(tenant), isConfirmed: true })
    now += 59_999
    expect(await callers.lookUp(tenant.keyDigest)).toEqual({ caller: callerOf(tenant), isConfirmed: false })
    expect(reads).toBe(1)
    now += 1
    expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: true })
    expect(reads).toBe(2)
  })

  it('counts the minute from before its read, whose record may be as old as that', async () => {
    const slow = new CallerDirectory(
      {
        readItem: async (key) => {
          reads += 1
          const item = await lean.readItem(key)
          now += 30_000
          return item
        },
      },
      { nowMilliseconds: () => now },
    )
    await slow.lookUp(tenant.keyDigest)
    now += 29_999
    expect(await slow.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
    now += 1
    expect(await slow.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: true })
    expect(reads).toBe(2)
  })

  it('finds nobody for a key that is unknown, and asks again the next time', async () => {
    expect(await callers.lookUp('unknown')).toBeUndefined()
    expect(await callers.lookUp('unknown')).toBeUndefined()
    expect(reads).toBe(2)
    await putApiKey(table, { keyId: 'k', tenantId: 't', models: ['m'], createdAt: 0, digest: 'unknown' }, TESTER)
    expect(await callers.lookUp('unknown')).toMatchObject({ caller: { tenantId: 't', models: ['m'] } })
  })

  it('finds nobody for a key that is revoked', async () => {
    await revoke()
    expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
  })

  it('does not go by a remembered key from the moment of its end on', async () => {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.apiKey(tenant.keyDigest),
        UpdateExpression: 'SET expiresAt = :at',
        ExpressionAttributeValues: { ':at': Math.trunc(now / 1000) + 10 },
      }),
    )
    expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: true })
    now = Math.trunc(now / 1000) * 1000 + 9_999
    expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
    now += 1
    expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
  })

  it('remembers a bounded number of keys', async () => {
    const many = new CallerDirectory({
      readItem: async ({ PK }) => {
        reads += 1
        return { tenantId: PK, keyId: 'k', state: 'active', models: null }
      },
    })
    await many.lookUp('first')
    for (let key = 0; key < 5_000; key += 1) {
      await many.lookUp(String(key))
    }
    reads = 0
    await many.lookUp('4999')
    expect(reads).toBe(0)
    await many.lookUp('first')
    expect(reads).toBe(1)
  })

  it('is unavailable when the table is', async () => {
    engine.faults.fate = () => 'lost_before'
    await expect(callers.lookUp(tenant.keyDigest)).rejects.toBeInstanceOf(ServiceUnavailableError)
  })
})

describe('a key revoked within the minute that it is remembered', () => {
  beforeEach(async () => {
    await callers.lookUp(tenant.keyDigest)
    await revoke()
  })

  it('is found, not confirmed, and can lock nothing', async () => {
    expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
    await expect(new RelayLedger(lean).reserve(tenant.request('1'))).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await tenant.balance()).toEqual(['100', '0', '0'])
  })

  it('is refused by its confirmation, and not found after that', async () => {
    await expect(callers.confirm(tenant.keyDigest)).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
  })

  it('is not found once it was forgotten', async () => {
    callers.forget(tenant.keyDigest)
    expect(await callers.lookUp(tenant.keyDigest)).toBeUndefined()
  })
})

describe('confirming a key', () => {
  it('always reads, and what it read is remembered', async () => {
    expect(await callers.confirm(tenant.keyDigest)).toEqual(callerOf(tenant))
    expect(await callers.confirm(tenant.keyDigest)).toEqual(callerOf(tenant))
    expect(reads).toBe(2)
    expect(await callers.lookUp(tenant.keyDigest)).toMatchObject({ isConfirmed: false })
  })

  it('shares a read with everyone who came while another was under way', async () => {
    const callersFound = await Promise.all(Array.from({ length: 50 }, () => callers.confirm(tenant.keyDigest)))
    expect(callersFound).toHaveLength(50)
    expect(reads).toBe(2)
  })

  it('goes by no read that began before: a key revoked during one is refused to whoever comes then', async () => {
    const arrived = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const slow = new CallerDirectory({
      readItem: async (key) => {
        const item = await lean.readItem(key)
        arrived.resolve()
        await answer.promise
        return item
      },
    })
    const early = slow.confirm(tenant.keyDigest)
    await arrived.promise
    await revoke()
    const late = slow.confirm(tenant.keyDigest)
    answer.resolve()
    await expect(late).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await early).toEqual(callerOf(tenant))
  })
})
