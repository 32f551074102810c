import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'
import { verifyLedgers } from '../../../lib/cli/admin/ledger.ts'
import { readPartition } from '../../engines/audit.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { reserveJob } from '../../engines/video-jobs.ts'
import {
  openRelayingTenant,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from '../../store/relay-ledger/relaying-tenant.ts'

const engine = useOpened(startRelayTable)
let table: TableWithClient
let tenant: RelayingTenant
let ledger: RelayLedger
beforeEach(async () => {
  const { table: fresh, lean } = await engine.fresh()
  table = fresh
  ledger = new RelayLedger(lean)
  tenant = await openRelayingTenant(table, '100')
})

/** Without those of usage counters, which differ too where a settlement is changed (verify-counters.test.ts). */
const findings = async () =>
  (await verifyLedger(table)).flatMap(({ message }) => (message.startsWith('the usage counter ') ? [] : [message]))

async function relay(resolution: Parameters<RelayLedger['resolve']>[1] | undefined): Promise<RelayReservation> {
  const request = tenant.request('1')
  await ledger.reserve(request)
  if (resolution !== undefined) {
    await ledger.resolve(request, resolution)
  }
  return request
}

const rowKey = ({ requestId }: RelayReservation) => tableKeys.ledgerResolution(tenant.tenantId, requestId)

/** The one hold of the process of these tests. */
async function theHold(): Promise<TableKey> {
  const [{ PK, SK } = {}] = await readPartition(table, `T#${tenant.tenantId}`)
  return { PK: String(PK), SK: String(SK) }
}

async function change(Key: TableKey, member: string, value: unknown): Promise<void> {
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key,
      ...(value === undefined
        ? { UpdateExpression: 'REMOVE #m' }
        : { UpdateExpression: 'SET #m = :value', ExpressionAttributeValues: { ':value': value } }),
      ExpressionAttributeNames: { '#m': member },
    }),
  )
}

const remove = (Key: TableKey) => table.client.send(new DeleteCommand({ TableName: table.name, Key }))

describe('verifying the ledger', () => {
  it('finds nothing where requests are open, settled, billed at the estimate, released, and jobs run', async () => {
    await Promise.all([relay(undefined), relay(settle('0.5')), relay(settle('1.5', true)), relay(RELEASE)])
    await reserveJob(table, tenant)
    expect(await verifyLedgers(table)).toMatchObject({ isOk: true, text: 'every invariant holds' })
  })

  it('misses an open reservation that is gone', async () => {
    await relay(undefined)
    await remove(await theHold())
    expect(await findings()).toEqual(['held is 1 and the sum of open reservations is 0'])
  })

  it('misses a settlement that is gone', async () => {
    await remove(rowKey(await relay(settle('0.5'))))
    expect(await findings()).toEqual(['spent is 0.5 and the sum of settlements is 0'])
  })

  it('finds a request that is open and resolved', async () => {
    const request = await relay(RELEASE)
    const { model, operation, keyId, reservedAt } = request
    const open = [{ id: request.requestId, amount: 0, at: reservedAt, model, operation, keyId }]
    await change(await theHold(), 'open', open)
    await change(await theHold(), 'requests', 1)
    expect(await findings()).toEqual([
      `request ${request.requestId} has a resolution row in the ledger and its reservation is open`,
    ])
  })

  it('finds an open request with an amount below nothing', async () => {
    const { requestId, model, operation, keyId, reservedAt } = await relay(undefined)
    await change(await theHold(), 'open', [{ id: requestId, amount: -1, at: reservedAt, model, operation, keyId }])
    expect(await findings()).toContain(`request ${requestId} has a negative amount`)
  })

  it.each([
    ['amount', 0, ['held is 1 and the sum of open reservations is 0']],
    ['requests', 0, []],
  ])('finds a hold that does not add up with the requests that it names: %s is %i', async (name, value, more) => {
    await relay(undefined)
    const hold = await theHold()
    await change(hold, name, value)
    const message = `hold ${hold.SK.slice('PROC#'.length)} does not add up with the requests that it names`
    expect(await findings()).toEqual([...more, message])
  })

  it.each([
    ['a settlement without an amount', settle('0'), 'actual', undefined, 'has a settle row without an actual amount'],
    ['a release with an amount', RELEASE, 'actual', 1, 'has a release row with an actual amount'],
    ['a negative amount', RELEASE, 'amount', -1, 'has a negative amount'],
    ['a resolution before its reservation', RELEASE, 'at', 1, 'was resolved before it was reserved'],
  ])('finds %s', async (_, resolution, member, value, message) => {
    const request = await relay(resolution)
    await change(rowKey(request), member, value)
    expect(await findings()).toEqual([`request ${request.requestId} ${message}`])
  })

  it.each(['gift', 'reserve'])(
    'finds a row that says %s, which is none of ours, and looks at everything else',
    async (kind) => {
      const request = await relay(settle('0.5'))
      await change(rowKey(request), 'kind', kind)
      expect(await findings()).toEqual([
        'spent is 0.5 and the sum of settlements is 0',
        `the row ${request.requestId}#2 of its ledger is malformed`,
      ])
    },
  )
})
