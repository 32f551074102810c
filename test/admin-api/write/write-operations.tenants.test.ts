import { describe, expect, it } from 'vitest'
import { findCaller } from '#store/callers.ts'
import { createPlaygroundKey } from '#store/keys/playground-key.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { openTenant, TESTER } from '../../engines/video-jobs.ts'
import { startWriteRig, type WriteRig } from './write-rig.ts'

const rig = useOpened(startWriteRig)

const call = (...arguments_: Parameters<WriteRig['call']>) => rig.call(...arguments_)

describe('create-tenant', () => {
  it('create-tenant 201: a tenant without credits, with its limits, and one entry by the user of the console', async () => {
    const body = { name: 'Acme', open_jobs_max: 3, budget: { amount: '5', period: 'month' } }
    const made = await call('POST', '/tenants', { body })
    expect(made).toMatchObject({
      status: 201,
      body: {
        ...{ object: 'tenant', name: 'Acme', state: 'active', open_jobs: 0, open_jobs_max: 3 },
        balance: { available: '0', held: '0', spent: '0', granted: '0' },
        budget: { amount: '5', period: 'month', spent: '0', held: '0' },
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
    const unlimited = await call('POST', '/tenants', { body: { name: 'Plain', open_jobs_max: null } })
    expect(unlimited.body.open_jobs_max).toBeNull()
  })

  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a name with a control character', { name: 'a\u001b[2Jb' }, 'name'],
    ['a name with a secret', { name: `rg_live_ABCDEFGH_${'x'.repeat(38)}` }, 'name'],
    ['an unknown field', { name: 'a', credits: '5' }, 'credits'],
    ['a member of the prototype', '{"name":"a","__proto__":{"x":1}}', '__proto__'],
    ['a number as an amount', { name: 'a', budget: { amount: 5, period: 'month' } }, 'budget.amount'],
    ['a negative amount', { name: 'a', budget: { amount: '-5', period: 'month' } }, 'budget.amount'],
    ['an unknown period', { name: 'a', budget: { amount: '5', period: 'week' } }, 'budget.period'],
    ['an unknown field of a budget', { name: 'a', budget: { amount: '5', period: 'day', x: 1 } }, 'budget.x'],
    ['a broken limit', { name: 'a', open_jobs_max: 1.5 }, 'open_jobs_max'],
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
    expect(suspended).toMatchObject({ status: 200, body: { state: 'suspended', suspended_reason: 'unpaid' } })
    expect(await findCaller(rig.table, keyDigest, 0)).toBeUndefined()
    expect(await call('POST', `/tenants/${tenantId}/suspension`)).toMatchObject({ status: 200 })
    const resumed = await call('DELETE', `/tenants/${tenantId}/suspension`)
    expect(resumed).toMatchObject({ status: 200, body: { state: 'active', suspended_reason: null } })
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
        ...{ object: 'callback_secret', tenant: tenantId, secret: webhookSecret },
        ...{ previous_secret: null, previous_until: null },
      },
    })
    const [entry] = await rig.audit(tenantId)
    expect(entry).toMatchObject({ action: 'callback-secret show', actor: 'ada@host' })
    expect(JSON.stringify(entry)).not.toContain(webhookSecret)
  })

  it('reveal-callback-secret 200 and reveal-callback-secret 409: makes a new one, once without `again`, and the old one signs too', async () => {
    const { tenantId, webhookSecret } = await openTenant(rig.table)
    const rotated = await reveal(tenantId, { rotate: true, overlap_seconds: 60 })
    expect(rotated.body).toMatchObject({ previous_secret: webhookSecret, previous_until: expect.any(Number) })
    const stored = await readWebhookSecrets(rig.table, tenantId, { nowMilliseconds: Date.now() })
    expect(stored.current).toBe(rotated.body.secret)
    expect(await reveal(tenantId, { rotate: true })).toMatchObject({
      status: 409,
      body: { error: { code: 'rotated_already', param: 'again' } },
    })
    const again = await reveal(tenantId, { rotate: true, again: true, overlap_seconds: 0 })
    expect(again.body).toMatchObject({ previous_secret: null })
  })

  it('reveal-callback-secret 400: settings of a rotation without one', async () => {
    const { tenantId } = await openTenant(rig.table)
    expect(await reveal(tenantId, { overlap_seconds: 5 })).toMatchObject({
      status: 400,
      body: { error: { param: 'rotate' } },
    })
  })
})

describe('operations on a tenant that does not exist', () => {
  it.each([
    ['change-tenant 404', 'PATCH', '', { name: 'a' }],
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
