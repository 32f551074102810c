import { beforeEach, describe, expect, it } from '@jest/globals'
import { InvalidApiKeyError } from '#core/errors.ts'
import { limitsOf } from '#core/identity.ts'
import { parseCredits } from '#core/money.ts'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { findCaller } from '#store/callers.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { createCallerWithJobReader } from '#store/jobs/caller-with-job.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { admitSubject, digestOfSubject, subjectKeyId } from '#store/keys/subject-keys.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { makeTenant, resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant } from '../../engines/audit.ts'
import { breakConnection, type TableWithClient, tableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import {
  openTenant,
  RELEASE,
  requireReservation,
  reserveJob,
  TESTER,
  type TestTenant,
} from '../../engines/video-jobs.ts'

describe('makeTenant: a tenant', () => {
  const { table } = useTestTable()

  it('gets an id, a callback secret of its own and its first credits', async () => {
    const [one, other] = [
      await makeTenant(table, { name: 'One', credits: parseCredits('10') }, TESTER),
      await makeTenant(table, { name: 'Two', credits: parseCredits('1') }, TESTER),
    ]
    expect(one).toMatchObject({ name: 'One', balance: { available: parseCredits('10'), granted: parseCredits('10') } })
    expect(one.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(one.webhookSecret).not.toBe(other.webhookSecret)
    expect(one.id).not.toBe(other.id)
  })

  it('under a given id is made once', async () => {
    await makeTenant(table, { id: 'fixed', name: 'One', credits: parseCredits('1') }, TESTER)
    await expect(
      makeTenant(table, { id: 'fixed', name: 'Two', credits: parseCredits('1') }, TESTER),
    ).rejects.toMatchObject({ code: 'id_taken' })
  })

  it('is recorded with its name and its first credits, and without its secret', async () => {
    const { id, webhookSecret } = await makeTenant(
      table,
      { name: 'Recorded', credits: parseCredits('10'), openJobsMax: 3 },
      { name: 'alice', role: 'operator' },
    )
    const { entries } = await readAudit(table, { limit: 10, targets: [id] })
    expect(entries).toMatchObject([
      {
        actor: 'alice',
        action: 'tenant create',
        before: null,
        after: { name: 'Recorded', amount: '10', openJobs: 3 },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain(webhookSecret)
  })

  it('is granted more, each grant once for itself', async () => {
    const { id } = await makeTenant(table, { name: 'One', credits: parseCredits('1') }, TESTER)
    await grantTenant(table, id, { credits: parseCredits('2'), actor: TESTER })
    expect((await grantTenant(table, id, { credits: parseCredits('2'), actor: TESTER })).tenant.balance.granted).toBe(
      parseCredits('5'),
    )
    await expect(grantTenant(table, 'nobody', { credits: parseCredits('2'), actor: TESTER })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('suspendTenant:', () => {
  const NOW = Math.trunc(Date.now() / 1000)

  const engine = useTestTable()
  const { table } = engine
  let tenant: TestTenant
  beforeEach(async () => {
    tenant = await openTenant(table)
    await addKey('second')
  })

  const digestOf = (name: string) => `${name}-of-${tenant.tenantId}`
  const keyOf = (name: string) => {
    const digest = digestOf(name)
    return { keyId: digest, tenantId: tenant.tenantId, models: null, createdAt: 1, digest }
  }
  const addKey = (name: string) => putApiKey(table, keyOf(name), TESTER)
  const works = async (digest: string) => (await findCaller(table, digest, NOW)) !== undefined
  const listings = async () => (await listApiKeys(table)).filter(({ tenantId }) => tenantId === tenant.tenantId)

  /** The table of somebody whose first request with these words in it is overtaken by something else. */
  function overtake(words: string, first: () => Promise<void>): TableWithClient {
    const overtaken = tableWithClient({ name: table.name, client: Object.create(table.client) })
    let isFirst = true
    overtaken.client.send = async (command: object) => {
      if ('input' in command && JSON.stringify(command.input).includes(words) && isFirst) {
        isFirst = false
        await first()
      }
      return await Reflect.apply(table.client.send, table.client, [command])
    }
    return overtaken
  }

  describe('a suspended tenant', () => {
    it('has each of its keys refused from the next request on, and no other tenant has', async () => {
      const other = await openTenant(table)
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      expect([await works(tenant.keyDigest), await works(digestOf('second'))]).toEqual([false, false])
      expect((await listings()).map(({ suspended }) => suspended)).toEqual([true, true])
      expect((await getTenant(table, tenant.tenantId)).state).toBe('suspended')
      expect(await works(other.keyDigest)).toBe(true)
    })

    it('is refused where key and job are read in one request', async () => {
      const job = await reserveJob(table, tenant)
      const find = createCallerWithJobReader()
      const request = { keyDigest: tenant.keyDigest, jobId: job.jobId, nowSeconds: NOW }
      expect(await find(table, request)).toMatchObject({ job: { jobId: job.jobId } })
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      expect(await find(table, request)).toBeUndefined()
    })

    it('reserves nothing, not even with a request that was on its way', async () => {
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
      expect((await getTenant(table, tenant.tenantId)).balance.held).toBe(0n)
    })

    it('has its keys of meanwhile suspended too, and all of them work again once it is resumed', async () => {
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      await addKey('meanwhile')
      expect(await works(digestOf('meanwhile'))).toBe(false)
      await resumeTenant(table, tenant.tenantId, { actor: TESTER })
      expect([await works(tenant.keyDigest), await works(digestOf('meanwhile'))]).toEqual([true, true])
      expect((await listings()).map(({ suspended }) => suspended)).toEqual([false, false, false])
      await reserveJob(table, tenant)
    })

    it.each(['apiKey', 'apiKeyListing'] as const)(
      'has all of its other keys refused while the table has forgotten the %s of a subject',
      async (deleted) => {
        await addKey('zulu')
        const rule = { name: 'ci', when: { sub: '*' }, tenant: tenant.tenantId, rate: 60 }
        const named = { issuer: 'https://issuer.example.com', subject: 'forgotten', tenantId: tenant.tenantId }
        const digest = digestOfSubject(named)
        const longAgo = Date.now() - 91 * 86_400_000
        await admitSubject(table, { ...named, digest, limits: limitsOf(rule) }, longAgo)
        const Key = tableKeys[deleted](deleted === 'apiKey' ? digest : subjectKeyId(digest))
        await table.transact({ gone: { Delete: { Key } } })
        await suspendTenant(table, tenant.tenantId, { actor: TESTER })
        expect([await works(tenant.keyDigest), await works(digestOf('zulu'))]).toEqual([false, false])
        await expect(revokeApiKey(table, subjectKeyId(digest), TESTER)).rejects.toMatchObject({ code: 'not_found' })
        await resumeTenant(table, tenant.tenantId, { actor: TESTER })
        expect([await works(tenant.keyDigest), await works(digestOf('zulu'))]).toEqual([true, true])
      },
    )

    it('keeps its revoked keys revoked when it is resumed', async () => {
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      await revokeApiKey(table, digestOf('second'), TESTER)
      await resumeTenant(table, tenant.tenantId, { actor: TESTER })
      expect([await works(tenant.keyDigest), await works(digestOf('second'))]).toEqual([true, false])
    })

    it('has what runs ended as ever', async () => {
      const job = await reserveJob(table, tenant)
      const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      const resolution = { ...record, resolution: RELEASE, nowMilliseconds: Date.now() }
      expect(await resolveReservation(table, resolution)).toBe('resolved')
      expect(await auditTenant(table, tenant.tenantId)).toEqual([])
    })

    it('says since when, by whom and why until it is resumed', async () => {
      const before = Date.now()
      await suspendTenant(table, tenant.tenantId, { actor: { name: 'alice', role: 'operator' }, reason: 'unpaid' })
      await suspendTenant(table, tenant.tenantId, { actor: { name: 'bob', role: 'operator' }, reason: 'other' })
      const { suspension } = await getTenant(table, tenant.tenantId)
      expect(suspension).toEqual({ at: expect.any(Number), by: 'alice', reason: 'unpaid' })
      expect(suspension?.at).toBeGreaterThanOrEqual(before)
      await resumeTenant(table, tenant.tenantId, { actor: TESTER })
      expect((await getTenant(table, tenant.tenantId)).suspension).toBeNull()
    })

    it('is recorded once for each change of its state', async () => {
      for (const move of [suspendTenant, suspendTenant, resumeTenant, resumeTenant]) {
        await move(table, tenant.tenantId, { actor: TESTER })
      }
      const { entries } = await readAudit(table, { limit: 10, targets: [tenant.tenantId] })
      expect(entries.filter(({ action }) => action !== 'key create' && action !== 'tenant create')).toMatchObject([
        { action: 'tenant resume', before: { state: 'suspended' }, after: { state: 'active' } },
        { action: 'tenant suspend', before: { state: 'active' }, after: { state: 'suspended' } },
      ])
    })

    it('must exist', async () => {
      await expect(suspendTenant(table, 'nobody', { actor: TESTER })).rejects.toMatchObject({ code: 'not_found' })
      await expect(resumeTenant(table, 'nobody', { actor: TESTER })).rejects.toMatchObject({ code: 'not_found' })
    })
  })

  describe('a suspension that broke off in the middle', () => {
    const patient = async () => tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })

    it('refuses reservations already, and is finished by doing it again', async () => {
      const broken = await patient()
      breakConnection(broken, 'SET #suspended', { kind: 'request_lost', times: 8 })
      await expect(suspendTenant(broken, tenant.tenantId, { actor: TESTER })).rejects.toThrow()
      expect((await getTenant(table, tenant.tenantId)).state).toBe('suspended')
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
      await suspendTenant(table, tenant.tenantId, { actor: TESTER })
      expect([await works(tenant.keyDigest), await works(digestOf('second'))]).toEqual([false, false])
    })

    it('and was resumed by somebody else says so, and leaves every key working', async () => {
      // The suspension has marked the balance; before it comes to the keys, the tenant is resumed.
      const overtaken = overtake('SET #suspended', () => resumeTenant(table, tenant.tenantId, { actor: TESTER }))
      await expect(suspendTenant(overtaken, tenant.tenantId, { actor: TESTER })).rejects.toMatchObject({
        code: 'changed_meanwhile',
      })
      expect([await works(tenant.keyDigest), await works(digestOf('second'))]).toEqual([true, true])
    })

    it('never misses a key whose storing had begun before it', async () => {
      const overtaken = overtake(digestOf('late'), () => suspendTenant(table, tenant.tenantId, { actor: TESTER }))
      await putApiKey(overtaken, keyOf('late'), TESTER)
      expect(await works(digestOf('late'))).toBe(false)
      expect((await listings()).filter(({ suspended }) => !suspended)).toEqual([])
    })

    it('never misses a key that is stored at the same time', async () => {
      const names = Array.from({ length: 8 }, (_, index) => `racing-${index}`)
      await Promise.all([suspendTenant(table, tenant.tenantId, { actor: TESTER }), ...names.map(addKey)])
      expect((await listings()).filter(({ suspended }) => !suspended)).toEqual([])
      expect(await listings()).toHaveLength(2 + names.length)
    })
  })
})
