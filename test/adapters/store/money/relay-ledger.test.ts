import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { grantCredits } from '#adapters/store/accounts/grant-credits.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { InvalidApiKeyError } from '#core/errors.ts'
import { parseCredits } from '#core/money.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { captureTelemetry } from '../../../engines/counted-facts.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { countOf, openRelayingTenant, outcome, type RelayingTenant, settle } from '../accounts/relaying-tenant.ts'
import { startRelayTable } from './relay-table.ts'

captureTelemetry()
const engine = useOpened(startRelayTable)
let table: TableWithClient
let lean: Table
let ledger: RelayLedger
beforeEach(async () => {
  ;({ table, lean } = await engine.fresh())
  ledger = new RelayLedger(lean)
})

async function setState({ tenantId }: RelayingTenant, state: string): Promise<void> {
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: tableKeys.balance(tenantId),
      UpdateExpression: 'SET #state = :state',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':state': state },
    }),
  )
}

const reserveAll = (requests: readonly ReturnType<RelayingTenant['request']>[]) =>
  Promise.all(requests.map((request) => outcome(ledger.reserve(request))))
const inOrder = async (tenant: RelayingTenant) => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

describe('a reservation', () => {
  it('locks exactly its amount in the hold of its process, which the due index has until sixteen minutes later', async () => {
    const tenant = await openRelayingTenant(table, '1')
    const request = tenant.request('0.7')
    await ledger.reserve(request)
    expect(await tenant.balance()).toEqual(['0.3', '0.7', '0'])
    const { requestId: id, model, operation, keyId, reservedAt } = request
    expect(await readPartition(table, `T#${tenant.tenantId}`)).toEqual([
      {
        PK: `T#${tenant.tenantId}`,
        SK: expect.stringMatching(/^PROC#[0-9a-f-]{36}$/),
        amount: 700_000,
        requests: 1,
        open: [{ id, amount: 700_000, at: reservedAt, model, operation, keyId }],
        version: 1,
        renewedAt: reservedAt,
        budgets: {},
        GSI1PK: 'PROC',
        GSI1SK: String(reservedAt + 960_000).padStart(15, '0'),
      },
    ])
    expect(engine.transactions.at(-1)?.kinds).toEqual(['Update', 'Update', 'ConditionCheck'])
    await inOrder(tenant)
  })

  it('passes with exactly the funds and is refused one millionth above them', async () => {
    const tenant = await openRelayingTenant(table, '0.7')
    const refusal = ledger.reserve(tenant.request('0.700001'))
    await expect(refusal).rejects.toMatchObject({ statusCode: 402, message: 'insufficient quota for this request' })
    expect(await tenant.balance()).toEqual(['0.7', '0', '0'])
    await ledger.reserve(tenant.request('0.7'))
    expect(await tenant.balance()).toEqual(['0', '0.7', '0'])
  })

  it('moves a balance beyond the exact range of a double to the millionth', async () => {
    const tenant = await openRelayingTenant(table, '1000000000')
    for (const grantId of ['2', '3', '4', '5', '6', '7', '8', '9', '10']) {
      await grantCredits(table, tenant.tenantId, {
        grantId,
        credits: parseCredits('1000000000'),
        nowMilliseconds: 1,
        actor: TESTER,
      })
    }
    const request = tenant.request('0.000001')
    await ledger.reserve(request)
    expect(await tenant.balance()).toEqual(['9999999999.999999', '0.000001', '0'])
    expect(await outcome(ledger.reserve(tenant.request('1000000000')))).toBe('done')
    expect(await ledger.resolve(request, settle('0.000003'))).toBe('resolved')
    expect(await tenant.balance()).toEqual(['8999999999.999997', '1000000000', '0.000003'])
  })

  it('with a key that was revoked meanwhile is refused before funds are judged, and locks nothing', async () => {
    const tenant = await openRelayingTenant(table, '0')
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    await expect(ledger.reserve(tenant.request('1'))).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await readPartition(table, `T#${tenant.tenantId}`)).toEqual([])
  })

  it('with a key that nobody has is refused', async () => {
    const tenant = await openRelayingTenant(table)
    await expect(ledger.reserve(tenant.request('1', { keyDigest: 'nobody' }))).rejects.toBeInstanceOf(
      InvalidApiKeyError,
    )
  })

  it('of a suspended tenant is refused like a revoked key, whatever its balance, and its settlements still pass', async () => {
    const tenant = await openRelayingTenant(table)
    const open = tenant.request('1')
    await ledger.reserve(open)
    await setState(tenant, 'suspended')
    const [settled, refused] = await Promise.all([
      ledger.resolve(open, settle('1')),
      outcome(ledger.reserve(tenant.request('1'))),
    ])
    expect([settled, refused]).toEqual(['resolved', 'InvalidApiKeyError'])
    await inOrder(tenant)
  })

  it('of a tenant without a balance is refused', async () => {
    const tenant = await openRelayingTenant(table)
    const refusals = await reserveAll([1, 2].map(() => tenant.request('1', { tenantId: 'nobody' })))
    expect(refusals).toEqual(['InsufficientQuotaError', 'InsufficientQuotaError'])
  })

  it('under an id that has an open reservation locks nothing', async () => {
    const tenant = await openRelayingTenant(table)
    const request = tenant.request('1')
    await ledger.reserve(request)
    await expect(ledger.reserve(request)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    expect(await reserveAll([tenant.request('2'), request, request])).toEqual([
      'done',
      'ConditionsNotMetError',
      'ConditionsNotMetError',
    ])
    expect(await tenant.balance()).toEqual(['97', '3', '0'])
  })

  it('is unavailable when the table is, and so is everyone who waited meanwhile', async () => {
    const tenant = await openRelayingTenant(table)
    let calls = 0
    engine.faults.fate = () => {
      calls += 1
      return 'lost_before'
    }
    const outcomes = await reserveAll(Array.from({ length: 100 }, () => tenant.request('0.01')))
    expect(countOf(outcomes, 'ServiceUnavailableError')).toBe(100)
    expect(calls).toBe(8)
    engine.faults.fate = () => 'pass'
    expect(await tenant.balance()).toEqual(['100', '0', '0'])
    await ledger.reserve(tenant.request('1'))
  })
})
