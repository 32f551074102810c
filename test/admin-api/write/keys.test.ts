import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import { limitsOf } from '#core/identity.ts'
import { subjectDigest } from '#core/refused-key.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { findCaller } from '#store/callers.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { admitSubject, subjectKeyId } from '#store/keys/subject-keys.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { startWriteRig, type WriteRig, writeCaller } from './write-rig.ts'

describe('write operations keys', () => {
  const inADay = () => `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`

  const rig = useOpened(startWriteRig)
  let tenant: string
  beforeEach(async () => {
    tenant = (await openTenant(rig.table)).tenantId
  })

  const nowSeconds = () => Math.trunc(Date.now() / 1000)
  const call = (...arguments_: Parameters<WriteRig['call']>) => rig.call(...arguments_)
  const create = async (body: object = {}) => (await call('POST', '/keys', { body: { tenant, ...body } })).body
  const callerOf = (key: string, at = nowSeconds()) => findCaller(rig.table, sha256Hex(key), at)

  describe('create-key', () => {
    it('create-key 201: shows the key once, with its limits, and neither the log nor a later response has it', async () => {
      const body = {
        ...{ tenant, name: 'shop', models: [PER_SECOND_MODEL], rate_per_minute: 7 },
        ...{ budget: { amount: '5', period: 'month' }, expires_at: inADay() },
      }
      const made = await call('POST', '/keys', { body })
      expect(made).toMatchObject({
        status: 201,
        body: {
          ...{ tenant, name: 'shop', models: [PER_SECOND_MODEL], rate_per_minute: 7 },
          ...{
            budget: { amount: '5', period: 'month', spent: '0' },
            expires_at: body.expires_at.replace('Z', '.000Z'),
          },
        },
      })
      expect(await callerOf(made.body.key)).toMatchObject({ tenantId: tenant, ratePerMinute: 7 })
      const renamed = await call('PATCH', `/keys/${made.body.id}`, { body: { name: 'other' } })
      expect(JSON.stringify([renamed, await rig.audit(made.body.id)])).not.toContain(made.body.key)
    })

    it('create-key 201: all models, 300 requests a minute and no end where nothing is said; null lifts the rate', async () => {
      const made = { id: expect.any(String), key: expect.any(String), tenant, models: null }
      expect(await create()).toEqual({ ...made, rate_per_minute: 300 })
      expect(await create({ rate_per_minute: null })).toEqual(made)
    })

    it('create-key 201: one key for an id, however often it is asked for, and shown once', async () => {
      const budget = { amount: '5', period: 'month' }
      const body = { id: 'Shop0001', name: 'shop', models: [PER_SECOND_MODEL], budget, expires_at: inADay() }
      const tries = await Promise.all([1, 2, 3].map(() => create(body)))
      expect(tries.map(({ id }) => id)).toEqual(['Shop0001', 'Shop0001', 'Shop0001'])
      expect(tries.filter(({ key }) => key !== undefined)).toEqual([
        expect.objectContaining({ key: expect.stringMatching(/^rg_live_Shop0001_/) }),
      ])
      expect(tries.filter(({ repeated }) => repeated)).toHaveLength(2)
      expect((await rig.audit('Shop0001')).map(({ action }) => action)).toEqual(['key create'])
    })

    it('create-key 409: an id whose key is another, was changed, is revoked, or is of another tenant', async () => {
      const body = { id: 'Taken001', name: 'shop', budget: { amount: '5', period: 'month' } }
      await create(body)
      const other = (await openTenant(rig.table)).tenantId
      const budget = { amount: '6', period: 'month' }
      for (const change of [
        { name: 'x' },
        { models: [PER_SECOND_MODEL] },
        { rate_per_minute: 1 },
        { budget },
        { budget: null },
        { tenant: other },
      ]) {
        expect(await call('POST', '/keys', { body: { tenant, ...body, ...change } })).toMatchObject({
          status: 409,
          body: { error: { code: 'id_taken', param: 'id' } },
        })
      }
      await call('POST', '/keys/Taken001/revocation')
      expect(await call('POST', '/keys', { body: { tenant, ...body } })).toMatchObject({ status: 409 })
    })

    it.each(['', 'short', 'NineChars', 'a#b#c#d#', 8])('create-key 400: %j is no id of a key', async (id) => {
      expect(await call('POST', '/keys', { body: { tenant, id } })).toMatchObject({ status: 400 })
    })

    it('create-key 404: a tenant that does not exist', async () => {
      for (const nobody of ['nobody', '__proto__', 'a#b']) {
        expect(await call('POST', '/keys', { body: { tenant: nobody } })).toMatchObject({ status: 404 })
      }
    })

    it.each([
      ['no tenant', { tenant: undefined }, 'tenant'],
      ['a tenant that is no string', { tenant: { $ne: '' } }, 'tenant'],
      ['half a surrogate pair as a tenant', { tenant: '\ud800' }, 'tenant'],
      ['a list without a model', { models: [] }, 'models'],
      ['a model that nobody has', { models: [PER_SECOND_MODEL, 'constructor'] }, 'models.1'],
      ['too many models', { models: Array.from({ length: 201 }, () => PER_SECOND_MODEL) }, 'models'],
      ['a rate of nothing', { rate_per_minute: 0 }, 'rate_per_minute'],
      ['a rate that no limit can keep', { rate_per_minute: 60_001 }, 'rate_per_minute'],
      ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      ['an end in Unix seconds', { expires_at: 4_000_000_000 }, 'expires_at'],
      ['an end without a zone', { expires_at: '2099-01-01T00:00:00' }, 'expires_at'],
      ['a budget in words', { budget: '5/month' }, 'budget'],
      ['a key of its own', { key: 'rg_live_x' }, 'key'],
    ])('create-key 400: %s', async (_, body, param) => {
      const refused = await call('POST', '/keys', { body: { tenant, ...body } })
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } })
    })

    it('create-key 400: no JSON object, and create-key 413: a huge body', async () => {
      for (const body of ['[]', 'null', '"a"', '{', '7']) {
        expect(await call('POST', '/keys', { body })).toMatchObject({ status: 400 })
      }
      expect(await call('POST', '/keys', { body: { tenant, name: 'x'.repeat(70_000) } })).toMatchObject({ status: 413 })
    })
  })

  describe('change-key', () => {
    it('change-key 200: changes what is named, null removes, and the rest stays', async () => {
      const { id } = await create({ name: 'shop', models: [PER_SECOND_MODEL], budget: { amount: '1', period: 'day' } })
      const body = { models: null, rate_per_minute: null, budget: { amount: '3', period: 'day' } }
      const changed = await call('PATCH', `/keys/${id}`, { body })
      expect(changed).toMatchObject({
        status: 200,
        body: { id, name: 'shop', models: null, rate_per_minute: null, budget: { amount: '3' } },
      })
      expect((await rig.audit(id))[0]).toMatchObject({
        action: 'key set',
        before: { budget: '1/day' },
        after: { budget: '3/day' },
      })
      const cleared = await call('PATCH', `/keys/${id}`, { body: { name: null, budget: null } })
      expect(cleared.body).toMatchObject({ name: null, budget: null })
    })

    it('change-key 400: nothing to change, and unknown fields such as the tenant', async () => {
      const { id } = await create()
      expect(await call('PATCH', `/keys/${id}`, { body: {} })).toMatchObject({ status: 400 })
      const moved = await call('PATCH', `/keys/${id}`, { body: { tenant: 'other' } })
      expect(moved).toMatchObject({ status: 400, body: { error: { param: 'tenant' } } })
    })

    it('change-key 400: a model that the configuration does not have, unless the key has it already', async () => {
      const { id } = await create({ models: [PER_SECOND_MODEL] })
      const change = (catalogue: Catalogue) =>
        writeCaller(rig.table, { catalogue })('PATCH', `/keys/${id}`, { body: { models: [PER_SECOND_MODEL] } })
      const { config } = testCatalogue()
      expect(await change(createCatalogue({ ...config, models: [] }))).toMatchObject({ status: 200 })
      expect(await call('PATCH', `/keys/${id}`, { body: { models: ['gone'] } })).toMatchObject({ status: 400 })
    })

    it('change-key 409: a revoked key', async () => {
      const { id } = await create()
      await call('POST', `/keys/${id}/revocation`)
      const refused = await call('PATCH', `/keys/${id}`, { body: { name: 'a' } })
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'key_unusable' } } })
    })
  })

  describe('rotate-key', () => {
    it('rotate-key 201: a successor with the limits of the old key, which works on for the overlap', async () => {
      const old = await create({ name: 'shop', rate_per_minute: 7 })
      const rotated = await call('POST', `/keys/${old.id}/rotation`, { body: { overlap_seconds: 3600 } })
      expect(rotated).toMatchObject({ status: 201, body: { name: 'shop', rate_per_minute: 7, replaces: old.id } })
      expect(await callerOf(rotated.body.key)).toBeDefined()
      expect(await callerOf(old.key, nowSeconds() + 3_500)).toBeDefined()
      expect(await callerOf(old.key, nowSeconds() + 3_700)).toBeUndefined()
    })

    it('rotate-key 409: a second time without `again`, so that a double click makes one key', async () => {
      const old = await create()
      const rotate = (body: object = {}) => call('POST', `/keys/${old.id}/rotation`, { body })
      const statuses = (await Promise.all([rotate(), rotate(), rotate()])).map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([201, 409, 409])
      expect(await rotate()).toMatchObject({
        status: 409,
        body: { error: { code: 'rotated_already', param: 'again' } },
      })
      expect(await rotate({ again: true })).toMatchObject({ status: 201 })
    })

    it('rotate-key 409: a revoked key; and a key that is revoked at the same time stays revoked', async () => {
      const old = await create()
      const [rotated] = await Promise.all([
        call('POST', `/keys/${old.id}/rotation`),
        call('POST', `/keys/${old.id}/revocation`),
      ])
      expect([201, 409]).toContain(rotated.status)
      expect(await callerOf(old.key)).toBeUndefined()
      expect(await call('POST', `/keys/${old.id}/rotation`)).toMatchObject({ status: 409 })
    })

    it('rotate-key 400: an overlap that is no time, and an end in the past', async () => {
      const { id } = await create()
      for (const body of [
        { overlap_seconds: -1 },
        { overlap_seconds: 1e9 },
        { overlap_seconds: '1h' },
        { expires_at: '1970-01-01T00:00:05Z' },
      ]) {
        expect(await call('POST', `/keys/${id}/rotation`, { body })).toMatchObject({ status: 400 })
      }
    })
  })

  describe('the key of a subject', () => {
    const subject = async (budget: { budget: string } | { budget_of_all: string } = { budget: '5/day' }) => {
      const limits = limitsOf({ name: 'ci', when: {}, tenant, rate: 60, models: [PER_SECOND_MODEL], ...budget })
      const digest = subjectDigest(sha256Hex(tenant))
      const who = { digest, issuer: 'https://issuer.example.com', subject: 'me', tenantId: tenant, limits }
      await admitSubject(rig.table, who, Date.now())
      return subjectKeyId(digest)
    }

    it('restore-key 200: can be used again after a revocation, and a repeat changes nothing', async () => {
      const id = await subject()
      await call('POST', `/keys/${id}/revocation`)
      for (const _ of [1, 2]) {
        expect(await call('DELETE', `/keys/${id}/revocation`)).toMatchObject({ status: 200, body: { state: 'active' } })
      }
      const actions = (await rig.audit(id)).map(({ action }) => action)
      expect(actions).toEqual(['key restore', 'key revoke', 'key create'])
    })

    it('change-key 400: more than its rule allows, while less is taken, and shows its subject', async () => {
      const id = await subject()
      for (const body of [
        { models: null },
        { rate_per_minute: null },
        { rate_per_minute: 61 },
        { budget: null },
        { budget: { amount: '6', period: 'day' } },
        { budget: { amount: '1', period: 'month' } },
      ]) {
        const [param] = Object.keys(body)
        expect(await call('PATCH', `/keys/${id}`, { body })).toMatchObject({ status: 400, body: { error: { param } } })
      }
      const lowered = { rate_per_minute: 5, budget: { amount: '1', period: 'day' } }
      const shown = { ...lowered, issuer: 'https://issuer.example.com', subject: 'me', rule: 'ci', name: 'me' }
      expect(await call('PATCH', `/keys/${id}`, { body: lowered })).toMatchObject({ status: 200, body: shown })
    })

    it('change-key 200: the limit of a budget that the subjects of a rule share makes it anew, and 400: any other', async () => {
      const id = await subject({ budget_of_all: '5/day' })
      const { listing } = await getApiKey(rig.table, id)
      const item = tableKeys.keyBudget(listing.budget?.id ?? '')
      await rig.table.transact({ gone: { Delete: { Key: item } } })
      const change = (budget: object | null) => call('PATCH', `/keys/${id}`, { body: { budget } })
      for (const budget of [null, { amount: '4', period: 'day' }, { amount: '5', period: 'month' }]) {
        const message =
          'the subjects of the rule "ci" share a budget: set it to 5/day to count it again, or change the rule'
        expect(await change(budget)).toMatchObject({ status: 400, body: { error: { message } } })
      }
      const made = { status: 200, body: { budget: { amount: '5', period: 'day', spent: '0', left: '5' } } }
      expect(await change({ amount: '5', period: 'day' })).toMatchObject(made)
      expect(await rig.table.readItem(item)).toBeDefined()
    })

    it('rotate-key 409: a subject has no key to replace', async () => {
      const refused = await call('POST', `/keys/${await subject()}/rotation`)
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'key_unusable' } } })
    })
  })

  describe('revoke-key', () => {
    it('revoke-key 200: the key is refused from then on, and a repeat changes nothing', async () => {
      const { id, key } = await create()
      for (const _ of [1, 2]) {
        expect(await call('POST', `/keys/${id}/revocation`)).toMatchObject({ status: 200, body: { state: 'revoked' } })
      }
      expect(await callerOf(key)).toBeUndefined()
      expect((await rig.audit(id)).map(({ action }) => action)).toEqual(['key revoke', 'key create'])
    })

    it('restore-key 409: an API key, whose revocation is final; restore-key 404: no such key', async () => {
      const { id } = await create()
      await call('POST', `/keys/${id}/revocation`)
      const refused = await call('DELETE', `/keys/${id}/revocation`)
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'key_unusable' } } })
      expect(await call('DELETE', '/keys/nobody/revocation')).toMatchObject({ status: 404 })
    })

    it('revoke-key 404, rotate-key 404 and change-key 404: a key that does not exist', async () => {
      for (const id of ['nobody', '__proto__', '%2F', 'x'.repeat(2_000)]) {
        expect(await call('POST', `/keys/${id}/revocation`)).toMatchObject({ status: 404 })
        expect(await call('POST', `/keys/${id}/rotation`)).toMatchObject({ status: 404 })
        expect(await call('PATCH', `/keys/${id}`, { body: { name: 'a' } })).toMatchObject({ status: 404 })
      }
    })
  })

  describe('an admin of a tenant', () => {
    const lead = () => ({ session: { role: 'tenant-admin', tenant: { id: tenant, name: 'T' } } as const })
    const limit = (budget: object | null) => call('PATCH', `/tenants/${tenant}`, { body: { budget } })

    it('creates, changes, rotates and revokes the keys of the tenant', async () => {
      const body = { tenant, name: 'mine', budget: { amount: '5', period: 'day' } }
      const { id } = (await call('POST', '/keys', { ...lead(), body })).body
      expect(await call('PATCH', `/keys/${id}`, { ...lead(), body: { rate_per_minute: 9 } })).toMatchObject({
        status: 200,
      })
      expect(await call('POST', `/keys/${id}/rotation`, lead())).toMatchObject({ status: 201 })
      expect(await call('POST', `/keys/${id}/revocation`, lead())).toMatchObject({ status: 200 })
    })

    it.each([[{ amount: '101', period: 'month' }], [{ amount: '100.000001', period: 'day' }]])(
      'create-key 400, change-key 400: the budget %j is above that of the tenant',
      async (budget) => {
        await limit({ amount: '100', period: 'month' })
        const { id } = (await call('POST', '/keys', { ...lead(), body: { tenant } })).body
        const refused = {
          status: 400,
          body: { error: { param: 'budget', message: expect.stringContaining('100/month') } },
        }
        expect(await call('POST', '/keys', { ...lead(), body: { tenant, budget } })).toMatchObject(refused)
        expect(await call('PATCH', `/keys/${id}`, { ...lead(), body: { budget } })).toMatchObject(refused)
      },
    )

    it.each([
      [{ amount: '100', period: 'month' }],
      [{ amount: '100', period: 'day' }],
      [{ amount: '900', period: 'total' }],
      [null],
    ])('may give a key the budget %j, which that of the tenant bounds', async (budget) => {
      await limit({ amount: '100', period: 'month' })
      expect(await call('POST', '/keys', { ...lead(), body: { tenant, budget } })).toMatchObject({ status: 201 })
    })

    it.each([301, null])(
      'create-key 400, change-key 400: %j requests a minute are more than keys have by default',
      async (rate) => {
        const { id } = (await call('POST', '/keys', { ...lead(), body: { tenant } })).body
        const refused = { status: 400, body: { error: { param: 'rate_per_minute' } } }
        expect(await call('POST', '/keys', { ...lead(), body: { tenant, rate_per_minute: rate } })).toMatchObject(
          refused,
        )
        expect(await call('PATCH', `/keys/${id}`, { ...lead(), body: { rate_per_minute: rate } })).toMatchObject(
          refused,
        )
      },
    )
  })
})
