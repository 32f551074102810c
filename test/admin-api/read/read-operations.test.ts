import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { ForbiddenError } from '#core/admin/errors.ts'
import { videoListResponse } from '#core/admin/read-responses.ts'
import type { Session } from '#core/admin/session.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { timeOrderedId } from '#core/ids.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { allowedTenant } from '#lambdas/admin/operation.ts'
import { VerificationRate } from '#lambdas/admin/verification-rate.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import { adjustTenant } from '#store/tenants/credits.ts'
import { suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { sumAmounts } from '#web/core/amount.ts'
import { changeOf } from '#web/core/statement.ts'
import { listAuditDocument } from '../../../lib/cli/admin/audit.ts'
import { listCallbackAttemptsDocument } from '../../../lib/cli/admin/callback-attempts.ts'
import { KEY_DOCUMENTS } from '../../../lib/cli/admin/keys.ts'
import { LEDGER_DOCUMENTS } from '../../../lib/cli/admin/ledger.ts'
import { TENANT_DOCUMENTS } from '../../../lib/cli/admin/tenants.ts'
import { getUsageDocument } from '../../../lib/cli/admin/usage.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import {
  openTenant,
  RELEASE,
  requireReservation,
  reserveJob,
  settledJob,
  TESTER,
  type TestTenant,
  videoJobRecord,
} from '../../engines/video-jobs.ts'
import { openRelayingTenant } from '../../store/relay-ledger/relaying-tenant.ts'
import { keyOf, readRig } from './read-rig.ts'

describe('read operations', () => {
  const engine = useTestTable()
  process.env.CONSOLE_ORIGIN = 'loopback'

  let read: ReturnType<typeof readRig>
  let tenant: TestTenant
  beforeAll(async () => {
    read = readRig(engine.table)
    tenant = await openTenant(engine.table)
  })

  /** Every operation on one tenant, with the schema of its response and whether an API key may call it. */
  const PAGES = [
    ['list-videos 200', '/videos', videoListResponse, true],
    ['list-ledger 200', '/ledger', LEDGER_DOCUMENTS.listLedger.output, true],
    ['get-usage 200', '/usage', getUsageDocument.output, true],
    ['list-callback-attempts 200', '/webhooks', listCallbackAttemptsDocument.output, true],
    ['list-keys 200', '/keys', KEY_DOCUMENTS.listKeys.output, false],
  ] as const

  it('get-key 200: the key without the key itself, for those who see keys', async () => {
    const keyId = tenant.keyDigest.slice(0, 8)
    const { status, body, requests } = await read(`/keys/${keyId}`)
    expect([status, KEY_DOCUMENTS.getKey.output.parse(body).id, requests <= 3]).toEqual([200, keyId, true])
    const own = { role: 'tenant-viewer', tenant: { id: tenant.tenantId, name: 'T' } } as const
    expect((await read(`/keys/${keyId}`, {}, own)).status).toBe(200)
  })

  it('get-key 404: an unknown key, and for a role of a tenant that of another tenant', async () => {
    const keyId = tenant.keyDigest.slice(0, 8)
    const other = { role: 'tenant-admin', tenant: { id: 'other', name: 'O' } } as const
    const refused = [await read('/keys/nobody00'), await read(`/keys/${keyId}`, {}, other)]
    expect(refused.map(({ status }) => status)).toEqual([404, 404])
  })

  describe.each(PAGES)('%s', (_, path, schema, mayTenant) => {
    it('is what the document says, with at most three requests to the table, and one for the names of keys', async () => {
      await settledJob(engine.table, tenant, { bill: '0.1' })
      const { status, body, requests } = await read(path, { tenant: tenant.tenantId })
      expect([status, schema.safeParse(body).error]).toEqual([200, undefined])
      expect(requests).toBeLessThanOrEqual(path === '/ledger' ? 4 : 3)
    })

    it(`403: an API key ${mayTenant ? 'sees no other tenant' : 'may not call it'}`, async () => {
      expect((await read(path, { tenant: 'other' }, keyOf(tenant.tenantId))).status).toBe(403)
      expect((await read(path, {}, keyOf(tenant.tenantId))).status).toBe(mayTenant ? 200 : 403)
      expect((await read(path, { tenant: tenant.tenantId }, { role: 'viewer' })).status).toBe(200)
    })

    it('400: a wrong limit, an unknown parameter', async () => {
      const asked = { tenant: tenant.tenantId }
      expect((await read(path, { ...asked, limit: '0' })).body).toMatchObject({ error: { param: 'limit' } })
      expect((await read(path, { ...asked, nothing: '1' })).body).toMatchObject({ error: { param: 'nothing' } })
    })
  })

  describe('pages of one tenant', () => {
    it('get-tenant 200, get-overview 200: only operators see why a tenant is suspended', async () => {
      const { tenantId } = await openTenant(engine.table)
      await suspendTenant(engine.table, tenantId, { actor: TESTER, reason: 'disputes every bill' })
      const pages = [`/tenants/${tenantId}`, '/overview'] as const
      for (const path of pages) {
        const asked = path === '/overview' ? { tenant: tenantId } : undefined
        expect(JSON.stringify((await read(path, asked)).body)).toContain('disputes every bill')
        // The session of a key that the suspension has not reached yet.
        const seen = await read(path, undefined, keyOf(tenantId))
        expect([seen.status, JSON.stringify(seen.body)]).toEqual([200, expect.not.stringContaining('disputes')])
      }
    })

    it.each(['/videos', '/ledger', '/webhooks', '/ledger/verification'])(
      '%s 400: an admin names a tenant',
      async (path) => {
        expect((await read(path)).body).toMatchObject({ error: { param: 'tenant' } })
      },
    )

    it.each(['/videos', '/webhooks', '/ledger', '/ledger/verification', '/keys', '/usage'])(
      '%s 404: an unknown tenant',
      async (path) => {
        const { status, body } = await read(path, { tenant: 'nobody' })
        expect([status, Object(body).error.message]).toEqual([404, 'no tenant nobody'])
      },
    )
  })

  describe('list-ledger', () => {
    it('list-ledger 200: no row of a kind, as of a tenant that exists', async () => {
      const { status, body, requests } = await read('/ledger', { tenant: tenant.tenantId, kind: 'adjust' })
      expect([status, body.entries]).toEqual([200, []])
      expect(requests).toBeLessThanOrEqual(3)
    })

    it('list-ledger 200: no row of a time, with at most three requests to the table', async () => {
      const { status, body, requests } = await read('/ledger', { tenant: tenant.tenantId, to: '2001-09-09T00:00:00Z' })
      expect([status, body.entries]).toEqual([200, []])
      expect(requests).toBeLessThanOrEqual(3)
    })

    it('list-ledger 200: amounts of every kind, of jobs and of requests, that add up to what is available', async () => {
      const { table } = engine
      const relaying = await openRelayingTenant(table, '100')
      const asked = { tenant: relaying.tenantId }
      const adjustment = { amount: microcredits(-1_000_000), reason: 'mistake', isDebtAllowed: false, actor: TESTER }
      await adjustTenant(table, relaying.tenantId, adjustment)
      const settled = await settledJob(table, relaying, { bill: '0.1' })
      const failed = await reserveJob(table, relaying)
      await resolveReservation(table, {
        job: videoJobRecord(failed),
        reservation: await requireReservation(table, failed),
        resolution: RELEASE,
        nowMilliseconds: Date.now(),
      })
      const open = await reserveJob(table, relaying)
      const ledger = new RelayLedger(table)
      const relay = async (credits: string, resolution: RelayResolution) => {
        const request = relaying.request(credits, { requestId: timeOrderedId(randomUUID(), Date.now()) })
        await ledger.reserve(request)
        await ledger.resolve(request, resolution)
        return request.requestId
      }
      const billed = await relay('3', { kind: 'settle', actual: parseCredits('1.25'), estimated: false })
      const free = await relay('2', { kind: 'release' })

      const { body } = await read('/ledger', asked)

      const { entries } = LEDGER_DOCUMENTS.listLedger.output.parse(body)
      expect(
        entries.map((entry) => [entry.kind, entry.job ?? entry.id, entry.amount, changeOf(entry)]).toSorted(),
      ).toEqual(
        [
          ['grant', 'first', '100', '100'],
          ['adjust', expect.any(String), '-1', '-1'],
          ['reserve', settled.jobId, '0.7', '-0.7'],
          ['settle', settled.jobId, '0.7', '0.6'],
          ['reserve', failed.jobId, '0.7', '-0.7'],
          ['release', failed.jobId, '0.7', '0.7'],
          ['reserve', open.jobId, '0.7', '-0.7'],
          ['settle', billed, '3', '-1.25'],
          ['release', free, '2', '0'],
        ].toSorted(),
      )
      expect(sumAmounts(entries.map(changeOf))).toBe((await relaying.balance())[0])
    })

    it('list-ledger 200: the notes of operators are for operators alone', async () => {
      const { tenantId } = await openTenant(engine.table)
      const adjustment = { amount: microcredits(-1), reason: 'disputes', isDebtAllowed: false, actor: TESTER }
      await adjustTenant(engine.table, tenantId, adjustment)
      expect(JSON.stringify((await read('/ledger', { tenant: tenantId })).body)).toContain('disputes')
      expect(JSON.stringify((await read('/ledger', {}, keyOf(tenantId))).body)).not.toContain('disputes')
    })
  })

  describe('the channel of a job', () => {
    it.each(['/videos', '/videos/{job_id}', '/ledger'])(
      '%s shows it to operators, and never to an API key',
      async (template) => {
        const other = await openTenant(engine.table)
        const { jobId, tenantId } = await settledJob(engine.table, other, { bill: '0.1' })
        const path = template.replace('{job_id}', jobId)
        const channels = async (session: Parameters<typeof read>[2], asked: Record<string, string>) =>
          JSON.stringify((await read(path, asked, session)).body).match(/"channel":"[^"]+"/g)
        expect(await channels({ role: 'viewer' }, { tenant: tenantId })).not.toBeNull()
        expect(await channels(keyOf(tenantId), {})).toBeNull()
      },
    )
  })

  describe('get-tenant', () => {
    it('get-tenant 200: balance, state and alerts in one request, and no secret', async () => {
      const { status, body, requests } = await read(`/tenants/${tenant.tenantId}`)
      expect([status, TENANT_DOCUMENTS.getTenant.output.safeParse(body).error, requests]).toEqual([200, undefined, 2])
      expect(JSON.stringify(body)).not.toContain('whsec_')
      expect((await read(`/tenants/${tenant.tenantId}`, {}, keyOf(tenant.tenantId))).status).toBe(200)
    })

    it('get-tenant 403: an API key sees no other tenant; get-tenant 404: an unknown tenant', async () => {
      expect((await read('/tenants/other', {}, keyOf(tenant.tenantId))).status).toBe(403)
      expect((await read('/tenants/other')).status).toBe(404)
    })
  })

  describe('verify-ledger', () => {
    it('verify-ledger 200: all rules hold', async () => {
      const { tenantId } = await openTenant(engine.table)
      const { status, body } = await read('/ledger/verification', { tenant: tenantId })
      expect([status, LEDGER_DOCUMENTS.verifyLedger.output.safeParse(body).error]).toEqual([200, undefined])
      expect(body).toMatchObject({ ok: true, broken: [] })
    })

    it('verify-ledger 429: the seventh within a minute, which reads nothing', async () => {
      const { tenantId } = await openTenant(engine.table)
      const asked = readRig(engine.table, { verifications: new VerificationRate() })
      for (let count = 0; count < 6; count += 1) {
        expect((await asked('/ledger/verification', { tenant: tenantId })).status).toBe(200)
      }
      expect(await asked('/ledger/verification', { tenant: tenantId })).toMatchObject({ status: 429, requests: 1 })
    })

    it('verify-ledger 403: not for API keys', async () => {
      expect((await read('/ledger/verification', {}, keyOf(tenant.tenantId))).status).toBe(403)
    })
  })

  describe('list-audit', () => {
    it('list-audit 200: filters by target, action and time, with at most three requests', async () => {
      const { tenantId } = await openTenant(engine.table)
      const adjustment = { amount: microcredits(-1), reason: 'mistake', isDebtAllowed: false, actor: TESTER }
      await adjustTenant(engine.table, tenantId, adjustment)
      const { status, body, requests } = await read('/audit', { target: tenantId, action: 'tenant adjust' })
      expect([status, listAuditDocument.output.safeParse(body).error]).toEqual([200, undefined])
      expect(requests).toBeLessThanOrEqual(3)
      expect(body).toMatchObject({
        entries: [{ action: 'tenant adjust', tenant: tenantId, after: { reason: 'mistake' } }],
      })
      expect((await read('/audit', { target: tenantId, until: '1970-01-01T00:00:01Z' })).body).toMatchObject({
        entries: [],
        has_more: false,
      })
    })

    it('list-audit 403: not for API keys; list-audit 400: a wrong time', async () => {
      expect((await read('/audit', {}, keyOf(tenant.tenantId))).status).toBe(403)
      expect((await read('/audit', { since: 'yesterday' })).body).toMatchObject({ error: { param: 'since' } })
    })
  })
})

const NOW = 1_800_000_000_000

describe('VerificationRate', () => {
  it('verify-ledger 429: one at a time for a session, and others by themselves', () => {
    const rate = new VerificationRate()
    const end = rate.begin('s1', NOW)
    expect(() => rate.begin('s1', NOW)).toThrow(expect.objectContaining({ statusCode: 429, retryAfterSeconds: 5 }))
    rate.begin('s2', NOW)()
    end()
    rate.begin('s1', NOW)
  })

  it('verify-ledger 429: the seventh within a minute of the first', () => {
    const rate = new VerificationRate()
    for (let count = 0; count < 6; count += 1) {
      rate.begin('s1', NOW + count * 1_000)()
    }
    expect(() => rate.begin('s1', NOW + 30_000)).toThrow(expect.objectContaining({ retryAfterSeconds: 30 }))
    rate.begin('s1', NOW + 60_000)()
    expect(() => rate.begin('s1', NOW + 60_000)).toThrow('too many verifications')
  })
})

const session = (changes: Partial<Session>): Session => ({
  id: 's',
  kind: 'admin_key',
  actor: 'ada',
  role: 'viewer',
  tenant: null,
  keyId: null,
  holder: 'ada',
  createdAt: 0,
  seenAt: 0,
  expiresAt: 1,
  ...changes,
})
const key = session({ role: 'tenant', kind: 'api_key', tenant: { id: 'acme', name: 'Acme' } })

describe('allowedTenant', () => {
  it('is the one that an admin asks for, and none if none is asked for', () => {
    expect(allowedTenant(session({}), 'acme')).toBe('acme')
    expect(allowedTenant(session({ role: 'owner' }), undefined)).toBeUndefined()
  })

  it('is the own one of an API key, asked for or not', () => {
    expect([allowedTenant(key, undefined), allowedTenant(key, 'acme')]).toEqual(['acme', 'acme'])
  })

  it('is never another one for an API key, even without a tenant in its session', () => {
    expect(() => allowedTenant(key, 'other')).toThrow(ForbiddenError)
    expect(() => allowedTenant(key, '')).toThrow(ForbiddenError)
    expect(() => allowedTenant(session({ role: 'tenant' }), 'acme')).toThrow(ForbiddenError)
    expect(() => allowedTenant(session({ role: 'tenant' }), undefined)).toThrow(ForbiddenError)
  })

  it('is no id that the table could not have', () => {
    expect(() => allowedTenant(session({}), '')).toThrow(InvalidRequestError)
    expect(() => allowedTenant(session({}), 'x'.repeat(2_000))).toThrow(InvalidRequestError)
  })
})
