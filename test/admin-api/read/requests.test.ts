import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { timeOrderedId } from '#core/ids.ts'
import { parseCredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation, RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { listRequestsDocument, requestList } from '../../../lib/cli/admin/requests.ts'
import { runCommand } from '../../cli/admin/run-command.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { settledJob, TESTER } from '../../engines/video-jobs.ts'
import { openRelayingTenant, type RelayingTenant } from '../../store/relay-ledger/relaying-tenant.ts'
import { keyOf, readRig } from './read-rig.ts'

process.env.CONSOLE_ORIGIN = 'loopback'

const BILLED: RelayResolution = {
  kind: 'settle',
  actual: parseCredits('1.25'),
  estimated: false,
  usage: countedUsage({ inputTokens: 20, outputTokens: 5 }),
  channel: 'main',
  outcome: { status: 200, firstByteMilliseconds: 12 },
}
const CAUSE = 'HTTP 401 invalid_api_key'
const REFUSED: RelayResolution = {
  kind: 'release',
  outcome: { status: 502, firstByteMilliseconds: 7, failure: 'upstream_auth', cause: CAUSE, channel: 'spare' },
}

describe('list-requests', () => {
  const engine = useTestTable()
  let tenant: RelayingTenant
  let read: ReturnType<typeof readRig>
  let now = Date.now() - 60_000

  async function relay(resolution: RelayResolution, changes: Partial<RelayReservation> = {}): Promise<string> {
    now += 1_000
    const requestId = timeOrderedId(randomUUID(), now)
    const ledger = new RelayLedger(engine.table)
    const request = tenant.request('3', { requestId, reservedAt: now, ...changes })
    await ledger.reserve(request)
    await ledger.resolve(request, resolution)
    return requestId
  }

  let [billed, failed]: string[] = []
  beforeAll(async () => {
    read = readRig(engine.table)
    tenant = await openRelayingTenant(engine.table, '100')
    const { tenantId } = tenant
    const key = { key: generateApiKey(), tenantId, name: 'shop', models: null }
    const keyId = await storeApiKey(engine.table, key, TESTER)
    billed = await relay(BILLED, { keyId })
    failed = await relay(REFUSED, { model: 'other' })
    await settledJob(engine.table, tenant, { bill: '0.1' })
  })

  const ids = ({ body }: Awaited<ReturnType<typeof read>>) =>
    listRequestsDocument.output.parse(body).requests.map(({ id }) => id)

  it('list-requests 200: newest first, without jobs, with the name of the key, by three requests to the table', async () => {
    const { status, body, requests } = await read('/requests', { tenant: tenant.tenantId })
    expect([status, listRequestsDocument.output.safeParse(body).error, requests]).toEqual([200, undefined, 3])
    expect(body.requests).toMatchObject([
      { id: failed, status: 502, failure: 'upstream_auth', cause: CAUSE, channel: 'spare', cost: '0', usage: null },
      {
        ...{ id: billed, status: 200, failure: null, cause: null, channel: 'main', key_name: 'shop', cost: '1.25' },
        ...{ first_byte_milliseconds: 12, usage: { input_tokens: 20, output_tokens: 5 } },
      },
    ])
  })

  it('list-ledger 200 and get-usage 200: name the key of a row', async () => {
    const asked = { tenant: tenant.tenantId }
    const { entries } = Object(await read('/ledger', asked)).body
    expect(entries).toContainEqual(expect.objectContaining({ job: billed, key_name: 'shop' }))
    const { rows } = Object(await read('/usage', { ...asked, group_by: 'key' })).body
    expect(rows).toContainEqual(expect.objectContaining({ key_name: 'shop' }))
  })

  it('list-requests 200: those of a key, of a model, or those that failed', async () => {
    const asked = { tenant: tenant.tenantId }
    expect(ids(await read('/requests', { ...asked, failed: 'true' }))).toEqual([failed])
    expect(ids(await read('/requests', { ...asked, model: 'other' }))).toEqual([failed])
    const [, { key = '' } = {}] = Object(await read('/requests', asked)).body.requests
    expect(ids(await read('/requests', { ...asked, key }))).toEqual([billed])
    expect((await read('/requests', { ...asked, failed: 'yes' })).body).toMatchObject({ error: { param: 'failed' } })
  })

  it('list-requests 200: an API key sees its own requests, and nothing of upstreams', async () => {
    const { body } = await read('/requests', {}, keyOf(tenant.tenantId))
    expect(body.requests).toMatchObject([{ failure: 'upstream_auth' }, { failure: null }])
    expect(JSON.stringify(body)).not.toMatch(/main|spare|HTTP 401/)
    expect((await read('/requests', { tenant: 'other' }, keyOf(tenant.tenantId))).status).toBe(403)
  })

  it('list-requests 200: pages to the last row, which `requests --json` prints together', async () => {
    const paged: unknown[] = []
    for (let after: unknown = ''; after !== null; ) {
      const more = after === '' ? {} : { after: String(after) }
      const { body } = await read('/requests', { tenant: tenant.tenantId, limit: '1', ...more })
      paged.push(...Object(body).requests)
      after = body.next
    }
    const { table } = engine
    const { json, text } = await runCommand(requestList, { table, options: { tenant: tenant.tenantId } })
    expect(json).toEqual({ requests: paged })
    expect(text).toContain(`upstream_auth: ${CAUSE}`)
    expect((await runCommand(requestList, { table, options: { limit: '1' } })).json).toEqual({ requests: [paged[0]] })
  })

  it('list-requests 400: an admin names a tenant; list-requests 404: an unknown tenant', async () => {
    expect((await read('/requests')).body).toMatchObject({ error: { param: 'tenant' } })
    expect((await read('/requests', { tenant: 'nobody' })).status).toBe(404)
  })
})
