import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { InsufficientQuotaError, InvalidApiKeyError, ServiceUnavailableError } from '#core/errors.ts'
import { parseCredits } from '#core/money.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import {
  countOf,
  openRelayingTenant,
  outcome,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from './relaying-tenant.ts'

describe('RelayLedger: a reservation', () => {
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

  it('is allowed with exactly the funds and is refused one millionth above them', async () => {
    const tenant = await openRelayingTenant(table, '0.7')
    const refusal = ledger.reserve(tenant.request('0.700001'))
    await expect(refusal).rejects.toMatchObject({ statusCode: 402, message: 'insufficient quota for this request' })
    expect(await tenant.balance()).toEqual(['0.7', '0', '0'])
    await ledger.reserve(tenant.request('0.7'))
    expect(await tenant.balance()).toEqual(['0', '0.7', '0'])
  })

  it('moves a balance beyond the exact range of a double to the millionth', async () => {
    const tenant = await openRelayingTenant(table, '1000000000')
    for (let grants = 1; grants < 10; grants += 1) {
      await grantTenant(table, tenant.tenantId, { credits: parseCredits('1000000000'), actor: TESTER })
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

describe('RelayLedger: a resolution', () => {
  const telemetry = captureTelemetry()
  const engine = useOpened(startRelayTable)
  let table: Table
  let lean: Table
  let ledger: RelayLedger
  beforeEach(async () => {
    ;({ table, lean } = await engine.fresh())
    ledger = new RelayLedger(lean)
    telemetry.reset()
  })

  const inOrder = async (tenant: RelayingTenant) => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

  async function open(tenant: RelayingTenant, credits = '1') {
    const request = tenant.request(credits)
    await ledger.reserve(request)
    return request
  }

  it('bills the actual amount, gives the rest back, and leaves one row in the ledger and nothing open', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '3')
    expect(await ledger.resolve(request, settle('1.25'))).toBe('resolved')
    expect(await tenant.balance()).toEqual(['8.75', '0', '1.25'])
    expect(await readPartition(table, `T#${tenant.tenantId}`)).toMatchObject([{ amount: 0, requests: 0, open: [] }])
    const rows = (await readPartition(table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')
    expect(rows).toEqual([
      {
        PK: `L#${tenant.tenantId}`,
        SK: `${request.requestId}#2`,
        kind: 'settle',
        job: request.requestId,
        amount: 3_000_000,
        actual: 1_250_000,
        at: expect.any(Number),
        reservedAt: request.reservedAt,
        model: 'chat-default',
        operation: 'create-chat-completion',
        keyId: request.keyId,
        counted: true,
      },
    ])
    expect(engine.transactions.at(-1)?.kinds).toEqual(['Update', 'Update', 'Put', 'Update'])
    await inOrder(tenant)
  })

  it('is marked when it bills the estimate', async () => {
    const tenant = await openRelayingTenant(table)
    const request = await open(tenant)
    await ledger.resolve(request, settle('1', true))
    expect(await lean.readItem(tableKeys.ledgerResolution(tenant.tenantId, request.requestId))).toMatchObject({
      kind: 'settle',
      estimated: true,
    })
  })

  it('that releases gives everything back and bills nothing', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '3')
    expect(await ledger.resolve(request, RELEASE)).toBe('resolved')
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    const row = await lean.readItem(tableKeys.ledgerResolution(tenant.tenantId, request.requestId))
    expect(row).toMatchObject({ kind: 'release', amount: 3_000_000 })
    expect(row).not.toHaveProperty('actual')
  })

  it('above its reservation takes the balance below zero, and the next reservation is refused', async () => {
    const tenant = await openRelayingTenant(table, '1')
    const request = await open(tenant, '1')
    await ledger.resolve(request, settle('1.5'))
    expect(await tenant.balance()).toEqual(['-0.5', '0', '1.5'])
    await expect(ledger.reserve(tenant.request('0.000001'))).rejects.toBeInstanceOf(InsufficientQuotaError)
  })

  it('repeated is told so and changes nothing', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    await ledger.resolve(request, settle('0.5'))
    expect(await ledger.resolve(request, settle('0.5'))).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(telemetry.counted()).toEqual([])
  })

  it.each([
    ['a settlement', settle('0.5'), RELEASE, ['9.5', '0', '0.5']],
    ['a release', RELEASE, settle('0.5'), ['10', '0', '0']],
    ['another settlement', settle('0.5'), settle('0.6'), ['9.5', '0', '0.5']],
  ])('after %s is turned away when it says otherwise, and counted', async (_, first, second, balance) => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    await ledger.resolve(request, first)
    expect(await ledger.resolve(request, second)).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(balance)
    expect(telemetry.counted()).toEqual(['resolution_conflict'])
  })

  it('wins alone when two are made at the same time', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    const outcomes = await Promise.all([ledger.resolve(request, settle('0.5')), ledger.resolve(request, RELEASE)])
    expect(outcomes).toEqual(['resolved', 'already_resolved'])
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(telemetry.counted()).toEqual(['resolution_conflict'])
    await inOrder(tenant)
  })

  it('is made by the process of the request alone: another process has nothing to resolve', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    const other = new RelayLedger(lean)
    await expect(other.resolve(request, RELEASE)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    expect(await ledger.resolve(request, settle('0.5'))).toBe('resolved')
    expect(await other.resolve(request, settle('0.5'))).toBe('already_resolved')
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    await inOrder(tenant)
  })

  it('of something that was never reserved fails and says so', async () => {
    const tenant = await openRelayingTenant(table)
    await expect(ledger.resolve(tenant.request('1'), settle('1'))).rejects.toMatchObject({
      name: 'ConditionsNotMetError',
    })
    const request = await open(tenant)
    await expect(ledger.resolve({ ...request, amount: parseCredits('5') }, RELEASE)).rejects.toMatchObject({
      name: 'ConditionsNotMetError',
    })
    expect(await tenant.balance()).toEqual(['99', '1', '0'])
  })

  it('pays for a reservation of the same moment', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '10')
    const before = engine.transactions.length
    const [resolved, reserved] = await Promise.all([
      ledger.resolve(request, RELEASE),
      outcome(ledger.reserve(tenant.request('10'))),
    ])
    expect([resolved, reserved]).toEqual(['resolved', 'done'])
    expect(engine.transactions).toHaveLength(before + 1)
    expect(await tenant.balance()).toEqual(['0', '10', '0'])
  })

  it('does not fail with the reservation beside it', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant, '4')
    const outcomes = await Promise.all([
      ledger.resolve(request, settle('4')),
      outcome(ledger.reserve(tenant.request('7'))),
    ])
    expect(outcomes).toEqual(['resolved', 'InsufficientQuotaError'])
    expect(await tenant.balance()).toEqual(['6', '0', '4'])
  })

  it('that fails takes no reservation beside it along', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const never = tenant.request('1')
    const outcomes = await Promise.all([
      outcome(ledger.resolve(never, RELEASE)),
      outcome(ledger.reserve(tenant.request('7'))),
    ])
    expect(outcomes).toEqual(['ConditionsNotMetError', 'done'])
    expect(await tenant.balance()).toEqual(['3', '7', '0'])
  })

  it('goes with the next reservation of a client that sends one request after the other', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const resolutions: Promise<string>[] = []
    for (let count = 0; count < 5; count += 1) {
      const request = tenant.request('1')
      await ledger.reserve(request)
      resolutions.push(ledger.resolve(request, settle('0.5')))
    }
    await Promise.all(resolutions)
    expect(engine.transactions.map(({ kinds }) => kinds.length)).toEqual([3, 5, 5, 5, 5, 4])
    expect(await tenant.balance()).toEqual(['7.5', '0', '2.5'])
  })

  it('alone is written soon, without a reservation to go with', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = await open(tenant)
    const started = performance.now()
    await ledger.resolve(request, RELEASE)
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('RelayLedger: an outage', () => {
  const telemetry = captureTelemetry()
  const engine = useOpened(startRelayTable)
  let table: Table
  let lean: Table
  let ledger: RelayLedger
  beforeEach(async () => {
    ;({ table, lean } = await engine.fresh())
    ledger = new RelayLedger(lean)
    telemetry.reset()
  })

  const inOrder = async (tenant: RelayingTenant) => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

  /** A clock that only pauses move. */
  function ownClock() {
    let now = Date.now()
    return {
      nowMilliseconds: () => now,
      pause: async (milliseconds: number) => {
        now += milliseconds
      },
      elapsed: (since: number) => now - since,
    }
  }

  it('is waited out by a resolution, which then happens once', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const clock = ownClock()
    ledger = new RelayLedger(lean, { clock })
    const request = tenant.request('1')
    await ledger.reserve(request)
    let calls = 0
    engine.faults.fate = () => {
      calls += 1
      return calls > 40 ? 'pass' : calls % 2 === 0 ? 'lost_before' : 'lost_after'
    }
    expect(await ledger.resolve(request, settle('0.5'))).toBe('resolved')
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    expect(telemetry.counted()).toEqual([])
    await inOrder(tenant)
  })

  it('of more than half a minute leaves the reservation open', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const clock = ownClock()
    ledger = new RelayLedger(lean, { clock })
    const request = tenant.request('1')
    await ledger.reserve(request)
    const started = clock.nowMilliseconds()
    engine.faults.fate = () => 'lost_before'
    await expect(ledger.resolve(request, settle('0.5'))).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(clock.elapsed(started)).toBeGreaterThanOrEqual(30_000)
    expect(clock.elapsed(started)).toBeLessThan(32_000)
    engine.faults.fate = () => 'pass'
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
  })

  it('that also swallows the next group bills a request with the first group that reaches the table', async () => {
    const tenant = await openRelayingTenant(table, '10')
    ledger = new RelayLedger(lean, { clock: ownClock() })
    const request = tenant.request('1')
    await ledger.reserve(request)
    engine.faults.fate = () => 'lost_before'
    await expect(ledger.resolve(request, settle('0.5'))).rejects.toBeInstanceOf(ServiceUnavailableError)
    await expect(ledger.reserve(tenant.request('2'))).rejects.toBeInstanceOf(ServiceUnavailableError)
    engine.faults.fate = () => 'pass'
    await ledger.reserve(tenant.request('3'))
    expect(await tenant.balance()).toEqual(['6.5', '3', '0.5'])
    await inOrder(tenant)
  })

  it('is not waited out by a ledger without patience', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const request = tenant.request('1')
    await ledger.reserve(request)
    engine.faults.fate = () => 'lost_before'
    const impatient = new RelayLedger(lean, { clock: ownClock(), patienceMilliseconds: 0 })
    const before = engine.transactions.length
    await expect(impatient.resolve(request, RELEASE)).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(engine.transactions.length - before).toBe(0)
  })

  it('in which only replies are lost locks once', async () => {
    const tenant = await openRelayingTenant(table, '10')
    let calls = 0
    engine.faults.fate = () => (++calls < 4 ? 'lost_after' : 'pass')
    await ledger.reserve(tenant.request('1'))
    expect(await tenant.balance()).toEqual(['9', '1', '0'])
    expect(new Set(engine.transactions.map(({ token }) => token)).size).toBe(1)
  })
})
