import { describe, expect, it } from '@jest/globals'
import type { Session } from '#core/admin/session.ts'
import { formatCredits } from '#core/money.ts'
import { pathId } from '#lambdas/admin/serve-operation.ts'
import { jobKeyOf } from '#lambdas/admin-api/write/write-context.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { findCaller } from '#store/callers.ts'
import { createPlaygroundKey } from '#store/keys/playground-key.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { openTenant, TESTER } from '../../engines/video-jobs.ts'
import { apiEvent } from '../../middleware/api-exchange.ts'
import { startWriteRig, type WriteRig, writeCaller } from './write-rig.ts'

describe('write operations tenants', () => {
  const rig = useOpened(startWriteRig)

  const call = (...arguments_: Parameters<WriteRig['call']>) => rig.call(...arguments_)

  describe('create-tenant', () => {
    it('create-tenant 201: a tenant without credits, with its limits, and one entry by the user of the console', async () => {
      const body = { name: 'Acme', open_jobs_max: 3, budget: { amount: '5', period: 'month' } }
      const made = await call('POST', '/tenants', { body })
      expect(made).toMatchObject({
        status: 201,
        body: {
          ...{ name: 'Acme', state: 'active', open_jobs: 0, open_jobs_max: 3 },
          ...{ available: '0', held: '0', spent: '0', granted: '0' },
          budget: { amount: '5', period: 'month', spent: '0', held: '0', left: '5' },
        },
      })
      expect(JSON.stringify(made.body)).not.toContain('whsec_')
      expect(await rig.audit(made.body.id)).toMatchObject([
        {
          action: 'tenant create',
          actor: 'ada@host',
          role: 'owner',
          requestId: expect.any(String),
          after: { budget: '5/month' },
        },
      ])
    })

    it('create-tenant 201: ten open jobs and no budget where nothing is said, no limit for null', async () => {
      const made = await call('POST', '/tenants', { body: { name: 'Plain' } })
      expect(made.body).toMatchObject({ open_jobs_max: 10, budget: null })
      const unlimited = await call('POST', '/tenants', { body: { name: 'Unlimited', open_jobs_max: null } })
      expect(unlimited.body.open_jobs_max).toBeNull()
    })

    it('create-tenant 201: one tenant for an id, with one first grant, however often it is asked for', async () => {
      const body = { id: 'team-a', name: 'Team A', credits: '5' }
      const tries = await Promise.all([1, 2, 3].map(() => call('POST', '/tenants', { body })))
      expect(tries.map(({ status }) => status)).toEqual([201, 201, 201])
      expect(tries.filter(({ body: { repeated } }) => repeated)).toHaveLength(2)
      expect(tries[2]?.body).toMatchObject({ id: 'team-a', available: '5', granted: '5' })
      expect((await rig.audit('team-a')).map(({ action }) => action)).toEqual(['tenant create'])
    })

    it('create-tenant 409: an id that was used with another name or other credits, or that is a name', async () => {
      const body = { id: 'team-b', name: 'Team B', credits: '5' }
      await call('POST', '/tenants', { body })
      for (const change of [{ name: 'Other' }, { credits: '6' }]) {
        const refused = { status: 409, body: { error: { code: 'id_taken', param: 'id' } } }
        expect(await call('POST', '/tenants', { body: { ...body, ...change } })).toMatchObject(refused)
      }
      const named = { id: 'Team-C', name: 'C' }
      await call('POST', '/tenants', { body: { name: 'Team-C' } })
      expect(await call('POST', '/tenants', { body: named })).toMatchObject({ status: 409 })
    })

    it('create-tenant 409: a name that another tenant has, unless a duplicate is allowed', async () => {
      const make = (more = {}) => call('POST', '/tenants', { body: { name: 'Namesake', ...more } })
      expect(await make()).toMatchObject({ status: 201 })
      const refused = { code: 'name_taken', param: 'allow_duplicate_name' }
      expect(await make()).toMatchObject({ status: 409, body: { error: refused } })
      expect(await make({ allow_duplicate_name: true })).toMatchObject({ status: 201, body: { name: 'Namesake' } })
    })

    it.each([
      ['no name', {}, 'name'],
      ['an empty name', { name: ' ' }, 'name'],
      ['a name with a control character', { name: 'a\u001b[2Jb' }, 'name'],
      ['a name with a secret', { name: `rg_live_ABCDEFGH_${'x'.repeat(38)}` }, 'name'],
      ['an unknown field', { name: 'a', state: 'active' }, 'state'],
      ['a member of the prototype', '{"name":"a","__proto__":{"x":1}}', '__proto__'],
      ['a number as an amount', { name: 'a', budget: { amount: 5, period: 'month' } }, 'budget.amount'],
      ['a negative amount', { name: 'a', budget: { amount: '-5', period: 'month' } }, 'budget.amount'],
      ['an unknown period', { name: 'a', budget: { amount: '5', period: 'week' } }, 'budget.period'],
      ['an unknown field of a budget', { name: 'a', budget: { amount: '5', period: 'day', x: 1 } }, 'budget.x'],
      ['a broken limit', { name: 'a', open_jobs_max: 1.5 }, 'open_jobs_max'],
      ['an id that is a dot', { name: 'a', id: '.' }, 'id'],
      ['an id that is two dots', { name: 'a', id: '..' }, 'id'],
    ])('create-tenant 400: %s, named, and nothing is made', async (_, body, param) => {
      const refused = await call('POST', '/tenants', { body })
      expect(refused).toMatchObject({ status: 400, body: { error: { param, type: 'invalid_request_error' } } })
    })
  })

  describe('change-tenant', () => {
    it('change-tenant 200: name, limit and budget in one transaction with one entry, and fields that are left out stay', async () => {
      const { tenantId } = await openTenant(rig.table)
      const body = { name: 'New', open_jobs_max: 7, budget: { amount: '2.5', period: 'total' } }
      const changed = await call('PATCH', `/tenants/${tenantId}`, { body })
      expect(changed).toMatchObject({ status: 200, body: { name: 'New', open_jobs_max: 7, budget: { amount: '2.5' } } })
      const [entry, ...earlier] = await rig.audit(tenantId)
      expect(entry).toMatchObject({
        action: 'tenant set',
        before: { name: 'Test', openJobs: null, budget: null },
        after: { name: 'New', openJobs: 7, budget: '2.5/total' },
      })
      const again = await call('PATCH', `/tenants/${tenantId}`, { body: { open_jobs_max: null, budget: null } })
      expect(again.body).toMatchObject({ name: 'New', open_jobs_max: null, budget: null })
      expect(await call('PATCH', `/tenants/${tenantId}`, { body: { name: 'New' } })).toMatchObject({ status: 200 })
      expect(await rig.audit(tenantId)).toHaveLength(earlier.length + 2)
    })

    it('change-tenant 400: nothing to change, and a broken field beside a good one changes nothing', async () => {
      const { tenantId } = await openTenant(rig.table)
      expect(await call('PATCH', `/tenants/${tenantId}`, { body: {} })).toMatchObject({ status: 400 })
      const body = { name: 'New', budget: { amount: 'x', period: 'day' } }
      expect(await call('PATCH', `/tenants/${tenantId}`, { body })).toMatchObject({ status: 400 })
      expect((await getTenant(rig.table, tenantId)).name).toBe('Test')
    })
  })

  describe('suspend-tenant and resume-tenant', () => {
    it('suspend-tenant 200 and resume-tenant 200: every key is refused, playground keys for good, and works again after the end', async () => {
      const { tenantId, keyDigest } = await openTenant(rig.table)
      const wish = { keyId: undefined, tenantId, sessionId: 's', actor: TESTER, nowMilliseconds: Date.now() }
      await createPlaygroundKey(rig.table, wish)
      const suspended = await call('POST', `/tenants/${tenantId}/suspension`, { body: { reason: 'unpaid' } })
      expect(suspended).toMatchObject({
        status: 200,
        body: { state: 'suspended', suspension: { by: 'ada@host', reason: 'unpaid' } },
      })
      expect(await findCaller(rig.table, keyDigest, 0)).toBeUndefined()
      expect(await call('POST', `/tenants/${tenantId}/suspension`)).toMatchObject({ status: 200 })
      const resumed = await call('DELETE', `/tenants/${tenantId}/suspension`)
      expect(resumed).toMatchObject({ status: 200, body: { state: 'active' } })
      expect(resumed.body).not.toHaveProperty('suspension')
      expect(await findCaller(rig.table, keyDigest, 0)).toBeDefined()
      const actions = (await rig.audit(tenantId)).map(({ action }) => action)
      expect(actions.slice(0, 2)).toEqual(['tenant resume', 'tenant suspend'])
    })

    it('a key that is made while its tenant is suspended is suspended too', async () => {
      const { tenantId } = await openTenant(rig.table)
      const create = () => call('POST', '/keys', { body: { tenant: tenantId } })
      const suspend = () => call('POST', `/tenants/${tenantId}/suspension`)
      const [one, , two] = await Promise.all([create(), suspend(), create()])
      await suspend()
      for (const { body } of [one, two]) {
        const state = await call('PATCH', `/keys/${body.id}`, { body: { name: 'same' } })
        expect(state.body.state).toBe('suspended')
      }
    })
  })

  describe('reveal-callback-secret', () => {
    const reveal = (tenantId: string, body?: object) =>
      call('POST', `/tenants/${tenantId}/callback-secret`, body === undefined ? {} : { body })

    it('reveal-callback-secret 200: shows the secret, and the log says who saw it without the secret', async () => {
      const { tenantId, webhookSecret } = await openTenant(rig.table)
      expect(await reveal(tenantId)).toEqual({
        status: 200,
        body: {
          ...{ tenant: tenantId, webhook_secret: webhookSecret },
          ...{ previous_webhook_secret: null, previous_until: null },
        },
      })
      const [entry] = await rig.audit(tenantId)
      expect(entry).toMatchObject({ action: 'callback-secret show', actor: 'ada@host' })
      expect(JSON.stringify(entry)).not.toContain(webhookSecret)
    })

    it('reveal-callback-secret 200 and reveal-callback-secret 409: makes a new one, once without `again`, and the old one signs too', async () => {
      const { tenantId, webhookSecret } = await openTenant(rig.table)
      const rotated = await reveal(tenantId, { rotate: true, overlap_seconds: 60 })
      expect(rotated.body).toMatchObject({
        previous_webhook_secret: webhookSecret,
        previous_until: expect.stringMatching(/Z$/),
      })
      const stored = await readWebhookSecrets(rig.table, tenantId, { nowMilliseconds: Date.now() })
      expect(stored.current).toBe(rotated.body.webhook_secret)
      expect(await reveal(tenantId, { rotate: true })).toMatchObject({
        status: 409,
        body: { error: { code: 'rotated_already', param: 'again' } },
      })
      const again = await reveal(tenantId, { rotate: true, again: true, overlap_seconds: 0 })
      expect(again.body).toMatchObject({ previous_webhook_secret: null })
    })

    it('reveal-callback-secret 400: settings of a rotation without one', async () => {
      const { tenantId } = await openTenant(rig.table)
      for (const body of [{ overlap_seconds: 5 }, { again: true }]) {
        expect(await reveal(tenantId, body)).toMatchObject({ status: 400, body: { error: { param: 'rotate' } } })
      }
    })
  })

  describe('operations on a tenant that does not exist', () => {
    it.each([
      ['change-tenant 404', 'PATCH', '', { name: 'a' }],
      ['change-alerts 404', 'PATCH', '/alerts', { low_balance: '1' }],
      ['grant-credits 404', 'POST', '/grants', { credits: '1', id: 'a' }],
      ['adjust-credits 404', 'POST', '/adjustments', { amount: '1', reason: 'a', id: 'a' }],
      ['suspend-tenant 404', 'POST', '/suspension', {}],
      ['resume-tenant 404', 'DELETE', '/suspension', undefined],
      ['reveal-callback-secret 404', 'POST', '/callback-secret', {}],
    ])('%s', async (_, method, path, body) => {
      for (const id of ['nobody', '%23', 'a%2Fb', '__proto__', '%00', '%F0%9F%8E%A5', 'x'.repeat(3_000)]) {
        const refused = await call(method, `/tenants/${id}${path}`, body === undefined ? {} : { body })
        expect(refused).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
      }
    })
  })
})

describe('write operations alerts', () => {
  const catalogue = testCatalogue({ callback_allowlist: ['hooks.example.com'] })
  const rig = useOpened(startWriteRig)
  const change = (tenantId: string, body: object) =>
    writeCaller(rig.table, { catalogue })('PATCH', `/tenants/${tenantId}/alerts`, { body })

  it('change-alerts 200: sets what is named, clears with null, and logs the url without its path', async () => {
    const { tenantId } = await openTenant(rig.table)
    const url = 'https://hooks.example.com/secret-path'
    expect(await change(tenantId, { thresholds: [90, 75, 90], low_balance: '5', url })).toMatchObject({
      status: 200,
      body: { tenant: tenantId, thresholds: [75, 90], low_balance: '5', url_host: 'hooks.example.com' },
    })
    expect((await change(tenantId, { thresholds: null, low_balance: null })).body).toMatchObject({
      thresholds: [50, 80, 100],
      low_balance: null,
      url_host: 'hooks.example.com',
    })
    const entries = await rig.audit(tenantId)
    expect(entries.filter(({ action }) => action === 'tenant alerts')).toMatchObject([
      { actor: 'ada@host', before: { lowBalance: '5' }, after: { lowBalance: null } },
      { after: { alertOrigin: 'https://hooks.example.com', thresholds: ['75', '90'], lowBalance: '5' } },
    ])
    expect(JSON.stringify(entries)).not.toContain('secret-path')
  })

  it.each([
    ['nothing', {}, ''],
    ['no threshold', { thresholds: [] }, 'thresholds'],
    ['a share of a percent', { thresholds: [0.5] }, 'thresholds.0'],
    ['a threshold above 200 %', { thresholds: [201] }, 'thresholds.0'],
    ['a balance below zero', { low_balance: '-1' }, 'low_balance'],
    ['a url that is not on the allowlist', { url: 'https://other.example/' }, 'url'],
    ['no url', { url: 'hooks' }, 'url'],
  ])('change-alerts 400: %s', async (_, body, param) => {
    const { tenantId } = await openTenant(rig.table)
    const refused = await change(tenantId, body)
    expect(refused).toMatchObject({ status: 400, body: { error: param === '' ? {} : { param } } })
    expect((await rig.audit(tenantId)).filter(({ action }) => action === 'tenant alerts')).toEqual([])
  })
})

describe('write operations credits', () => {
  const rig = useOpened(startWriteRig)

  const available = async (tenantId: string) => formatCredits((await getTenant(rig.table, tenantId)).balance.available)
  const call = (...arguments_: Parameters<WriteRig['call']>) => rig.call(...arguments_)

  describe('grant-credits', () => {
    it('grant-credits 200: moves credits once for its id, however often it is sent, even at once', async () => {
      const { tenantId } = await openTenant(rig.table, '1')
      const send = () =>
        call('POST', `/tenants/${tenantId}/grants`, { body: { credits: '0.25', id: 'invoice-1', note: 'paid' } })
      const responses = await Promise.all(Array.from({ length: 4 }, send))
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(responses.filter(({ body }) => !body.repeated)).toHaveLength(1)
      expect(responses[0]?.body).toMatchObject({ id: tenantId, granted: '1.25' })
      expect(await available(tenantId)).toBe('1.25')
      const grants = (await rig.audit(tenantId)).filter(({ action }) => action === 'tenant grant')
      expect(grants).toMatchObject([{ actor: 'ada@host', role: 'owner', after: { amount: '0.25', reason: 'paid' } }])
    })

    it('grant-credits 409: an id that was used for another amount', async () => {
      const { tenantId } = await openTenant(rig.table, '1')
      const send = (credits: string) => call('POST', `/tenants/${tenantId}/grants`, { body: { credits, id: 'a' } })
      await send('1')
      expect(await send('2')).toMatchObject({ status: 409, body: { error: { code: 'id_taken', param: 'id' } } })
      expect(await available(tenantId)).toBe('2')
    })

    it.each([
      ['no id: a retry would move money twice', { credits: '1' }, 'id'],
      ['an id for another row of the ledger', { credits: '1', id: 'a#2' }, 'id'],
      ['nothing', { credits: '0', id: 'a' }, 'credits'],
      ['a negative amount', { credits: '-1', id: 'a' }, 'credits'],
      ['too many places', { credits: '0.0000001', id: 'a' }, 'credits'],
      ['an exponent', { credits: '1e3', id: 'a' }, 'credits'],
      ['more than the largest amount', { credits: '1000000001', id: 'a' }, 'credits'],
      ['a very long amount', { credits: '9'.repeat(50_000), id: 'a' }, 'credits'],
      ['a number', { credits: 1, id: 'a' }, 'credits'],
    ])('grant-credits 400: %s', async (_, body, param) => {
      const { tenantId } = await openTenant(rig.table, '1')
      const refused = await call('POST', `/tenants/${tenantId}/grants`, { body })
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } })
      expect(refused.body.error.message.length).toBeLessThan(300)
      expect(await available(tenantId)).toBe('1')
    })
  })

  describe('adjust-credits', () => {
    const adjust = (tenantId: string, body: object) => call('POST', `/tenants/${tenantId}/adjustments`, { body })

    it('adjust-credits 200: moves credits once for its id, and says why in the log', async () => {
      const { tenantId } = await openTenant(rig.table, '10')
      const body = { amount: '-2.5', reason: 'granted twice', id: 'ticket-7' }
      expect(await adjust(tenantId, body)).toMatchObject({ status: 200, body: { granted: '7.5', repeated: false } })
      expect(await adjust(tenantId, body)).toMatchObject({ status: 200, body: { repeated: true } })
      expect(await available(tenantId)).toBe('7.5')
      expect(await rig.audit(tenantId)).toMatchObject([
        { action: 'tenant adjust', after: { amount: '-2.5', reason: 'granted twice' } },
        { action: 'key create' },
        { action: 'tenant create' },
      ])
    })

    it('adjust-credits 409: below zero, unless debt is allowed', async () => {
      const { tenantId } = await openTenant(rig.table, '1')
      const body = { amount: '-2', reason: 'chargeback', id: 'a' }
      const refused = await adjust(tenantId, body)
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'below_zero', param: 'allow_debt' } } })
      expect(refused.body.error.message).toContain('`allow_debt` permits this')
      expect(await adjust(tenantId, { ...body, allow_debt: true })).toMatchObject({ status: 200 })
      expect(await available(tenantId)).toBe('-1')
    })

    it('two owners at once take no more than there is, and a taken id is told', async () => {
      const { tenantId } = await openTenant(rig.table, '1')
      const send = (id: string, amount = '-0.7') => adjust(tenantId, { amount, reason: 'race', id })
      const statuses = (await Promise.all([send('a'), send('b'), send('c')])).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, 409, 409])
      expect(await available(tenantId)).toBe('0.3')
      const [taken] = (await rig.audit(tenantId)).flatMap(({ after }) =>
        after?.reference ? [String(after.reference)] : [],
      )
      expect(await send(taken ?? '', '0.1')).toMatchObject({ status: 409, body: { error: { code: 'id_taken' } } })
    })

    it.each([
      ['zero', { amount: '0', reason: 'a', id: 'a' }, 'amount'],
      ['no reason', { amount: '1', id: 'a' }, 'reason'],
      ['a reason of two lines', { amount: '1', reason: 'a\nb', id: 'a' }, 'reason'],
      ['no id', { amount: '1', reason: 'a' }, 'id'],
      ['a string as a switch', { amount: '1', reason: 'a', id: 'a', allow_debt: 'true' }, 'allow_debt'],
    ])('adjust-credits 400: %s', async (_, body, param) => {
      const { tenantId } = await openTenant(rig.table, '1')
      expect(await adjust(tenantId, body)).toMatchObject({ status: 400, body: { error: { param } } })
      expect(await available(tenantId)).toBe('1')
    })
  })
})

const JOB = '01980000-0000-7000-8000-000000000000'
const OWNER = { role: 'owner', tenant: null } as Session
const event = (job_id: string, tenant?: string): ApiEvent => ({
  ...apiEvent({ pathParameters: { job_id }, queryStringParameters: tenant === undefined ? null : { tenant } }),
  session: OWNER,
})

describe('named-target', () => {
  it.each(['', 'x'.repeat(201), '\ud800'])('an id that no table holds does not exist: %j', (id) => {
    expect(() => pathId(event(id), 'job_id', 'video job')).toThrow('no video job has this id')
  })

  it('a job is named by its id and its tenant', () => {
    expect(jobKeyOf(event(JOB, 'acme'))).toEqual({ tenantId: 'acme', jobId: JOB })
    for (const tenant of [undefined, '', 'x'.repeat(2_000)]) {
      expect(() => jobKeyOf(event(JOB, tenant))).toThrow('invalid request')
    }
    for (const id of ['nothing', JOB.toUpperCase().replace('0198', '019A'), `${JOB}#1`, '../x']) {
      expect(() => jobKeyOf(event(id, 'acme'))).toThrow('video job not found')
    }
  })
})
