import { describe, expect, it } from '@jest/globals'
import type { Session } from '#core/admin/session.ts'
import { parseCredits } from '#core/money.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { findCaller } from '#store/callers.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { REFUSAL_CODES, type RefusalCode, StoreRefusal } from '#store/store-refusal.ts'
import { ConditionsNotMetError, type Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { explainFailure } from '../../../lib/cli/failures.ts'
import { PER_SECOND_MODEL } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { openTenant, TESTER } from '../../engines/video-jobs.ts'
import { startWriteRig, type WriteRig, writeCaller } from './write-rig.ts'

describe('write operations access', () => {
  const rig = useOpened(startWriteRig)

  const WRITES = ALL_ADMIN_ROUTES.filter((route) => route.function === 'write')
  const PLAYGROUND = '/playground/key'
  const call = (...arguments_: Parameters<WriteRig['call']>) => rig.call(...arguments_)
  const VIEWER = { role: 'viewer', kind: 'admin_key', actor: 'vera' } as const

  /** The session of an API key with a budget, and that key. */
  async function apiKeySession() {
    const { tenantId } = await openTenant(rig.table)
    const key = generateApiKey()
    const limits = { models: ['a'], ratePerMinute: 9, budgetLimit: { amount: parseCredits('1'), kind: 'day' as const } }
    const keyId = await storeApiKey(rig.table, { key, tenantId, ...limits }, TESTER)
    // The rig finds sessions without their keys, so this session has none to look for.
    const session: Partial<Session> = {
      role: 'tenant',
      kind: 'api_key',
      actor: keyId,
      keyId,
      tenant: { id: tenantId, name: 'T' },
    }
    return { tenantId, keyId, key, session }
  }

  describe('roles of the write function', () => {
    it.each(WRITES.filter(({ access }) => access === 'owner'))(
      '$operation 403: for a viewer and for an API key',
      async ({ method, path }) => {
        const { tenantId, session } = await apiKeySession()
        const concrete = path
          .replace('/admin/v1', '')
          .replace('{tenant_id}', tenantId)
          .replaceAll(/\{\w+\}/g, 'x')
        const body = method === 'DELETE' ? {} : { body: { role: 'owner', name: 'a', credits: '1', id: 'a' } }
        for (const signedIn of [VIEWER, session]) {
          const refused = await call(method, concrete, { ...body, session: signedIn })
          expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
        }
        expect((await rig.audit(tenantId)).map(({ action }) => action)).toEqual([
          'key create',
          'key create',
          'tenant create',
        ])
      },
    )
  })

  describe('create-playground-key', () => {
    it('create-playground-key 201: for an API key, with its tenant, models, rate and budget, for 15 minutes', async () => {
      const { tenantId, keyId, session } = await apiKeySession()
      const made = await call('POST', PLAYGROUND, { session })
      expect(made).toMatchObject({ status: 201, body: { tenant: tenantId } })
      const { key, expires_at: end } = made.body
      expect(Math.abs(Date.parse(end) - Date.now() - 900_000)).toBeLessThan(30_000)
      const caller = await findCaller(rig.table, sha256Hex(key), Math.trunc(Date.now() / 1000))
      expect(caller).toMatchObject({ tenantId, keyId, models: ['a'], ratePerMinute: 9, budget: { id: keyId } })
      expect((await rig.audit(keyId))[0]).toMatchObject({
        action: 'playground-key create',
        role: 'tenant',
        actor: keyId,
      })
      await revokeApiKey(rig.table, keyId, TESTER)
      expect(await findCaller(rig.table, sha256Hex(key), 0)).toBeUndefined()
      expect(await call('POST', PLAYGROUND, { session })).toMatchObject({ status: 401 })
    })

    it('create-playground-key 201: for an owner, who names the tenant', async () => {
      const { tenantId } = await openTenant(rig.table)
      const made = await call('POST', PLAYGROUND, { body: { tenant: tenantId } })
      expect(made).toMatchObject({ status: 201, body: { tenant: tenantId } })
      expect(await findCaller(rig.table, sha256Hex(made.body.key), 0)).toMatchObject({ tenantId, models: null })
    })

    it('create-playground-key 400: an owner without a tenant, and unknown fields', async () => {
      expect(await call('POST', PLAYGROUND)).toMatchObject({ status: 400, body: { error: { param: 'tenant' } } })
      const body = { tenant: 'a', budget: null }
      expect(await call('POST', PLAYGROUND, { body })).toMatchObject({
        status: 400,
        body: { error: { param: 'budget' } },
      })
    })

    it('create-playground-key 403: a viewer, and an API key that names another tenant', async () => {
      const { tenantId } = await openTenant(rig.table)
      expect(await call('POST', PLAYGROUND, { body: { tenant: tenantId }, session: VIEWER })).toMatchObject({
        status: 403,
      })
      const { session } = await apiKeySession()
      expect(await call('POST', PLAYGROUND, { body: { tenant: tenantId }, session })).toMatchObject({ status: 403 })
    })

    it('create-playground-key 403: a tenant that signed in without an API key', async () => {
      const { tenantId } = await openTenant(rig.table)
      const session = { role: 'tenant', kind: 'oidc', tenant: { id: tenantId, name: 'T' } } as const
      expect(await call('POST', PLAYGROUND, { session })).toMatchObject({ status: 403 })
    })

    it('create-playground-key 404 and create-playground-key 409: a tenant that does not exist, and one that is suspended', async () => {
      expect(await call('POST', PLAYGROUND, { body: { tenant: 'nobody' } })).toMatchObject({ status: 404 })
      const { tenantId } = await openTenant(rig.table)
      await call('POST', `/tenants/${tenantId}/suspension`)
      const refused = await call('POST', PLAYGROUND, { body: { tenant: tenantId } })
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'tenant_suspended' } } })
    })

    it('create-playground-key 429: the 21st of a key or user within a minute', async () => {
      const { tenantId } = await openTenant(rig.table)
      const session = { holder: 'oidc:busy' }
      const make = () => call('POST', PLAYGROUND, { body: { tenant: tenantId }, session })
      for (let made = 0; made < 20; made += 1) {
        expect(await make()).toMatchObject({ status: 201 })
      }
      expect(await make()).toMatchObject({ status: 429, body: { error: { type: 'rate_limit_error' } } })
      expect(await call('POST', PLAYGROUND, { body: { tenant: tenantId } })).toMatchObject({ status: 201 })
    })
  })
})

const errorOf = (code: RefusalCode) => ({ message: 'why', type: 'invalid_request_error', code, param: null })
const conflict = (code: RefusalCode) => ({ status: 409, error: errorOf(code) })

/** The response to each refusal whose message is `why`. */
const RESPONSES: Readonly<Record<RefusalCode, { readonly status: number; readonly error: object }>> = {
  not_found: { status: 404, error: errorOf('not_found') },
  id_taken: { status: 409, error: { ...errorOf('id_taken'), param: 'id' } },
  name_taken: { status: 409, error: { ...errorOf('name_taken'), param: 'allow_duplicate_name' } },
  below_zero: {
    status: 409,
    error: { ...errorOf('below_zero'), message: 'why; `allow_debt` permits this', param: 'allow_debt' },
  },
  key_unusable: conflict('key_unusable'),
  rotated_already: { ...conflict('rotated_already'), error: { ...errorOf('rotated_already'), param: 'again' } },
  tenant_suspended: conflict('tenant_suspended'),
  redrive_refused: conflict('redrive_refused'),
  changed_meanwhile: conflict('changed_meanwhile'),
}

/** Responds to a change whose table refuses everything. */
async function respondTo(error: Error) {
  const refuse = () => Promise.reject(error)
  const call = writeCaller({ readItem: refuse, transact: refuse } as unknown as Table)
  const { status, body } = await call('PATCH', '/tenants/acme', { body: { name: 'New' } })
  return { status, error: body.error }
}

describe('a refusal of the store', () => {
  it.each(REFUSAL_CODES)('%s has its status, code and message in the admin API', async (code) => {
    expect(await respondTo(new StoreRefusal(code, 'why'))).toEqual(RESPONSES[code])
  })

  it.each(REFUSAL_CODES)('%s is its message on the command line', (code) => {
    expect(explainFailure(new StoreRefusal(code, 'why'))).toBe('why')
  })

  it('is not an error of another kind: that is a 500', async () => {
    expect(await respondTo(new Error('why'))).toMatchObject({ status: 500 })
  })
})

describe('writes whose target others change all the time', () => {
  const rig = useOpened(startWriteRig)

  /** Calls over a table whose conditions others change before every transaction. */
  function contendedCall(): WriteRig['call'] {
    const transact = async () => {
      throw new ConditionsNotMetError(['balance', 'switches'])
    }
    return writeCaller({ ...rig.table, transact, updateItem: async () => ({ isWritten: false, item: undefined }) })
  }

  async function targets() {
    const { tenantId: tenant } = await openTenant(rig.table)
    const { tenantId: suspended } = await openTenant(rig.table)
    await rig.call('POST', `/tenants/${suspended}/suspension`)
    const { id: key } = (await rig.call('POST', '/keys', { body: { tenant } })).body
    return { tenant, suspended, key }
  }

  it.each<[string, string, string, object | undefined]>([
    ['change-tenant 409', 'PATCH', '/tenants/{tenant}', { name: 'New' }],
    ['suspend-tenant 409', 'POST', '/tenants/{tenant}/suspension', {}],
    ['resume-tenant 409', 'DELETE', '/tenants/{suspended}/suspension', undefined],
    ['create-key 409', 'POST', '/keys', { tenant: '{tenant}' }],
    ['revoke-key 409', 'POST', '/keys/{key}/revocation', {}],
    ['change-channel 409', 'PATCH', '/channels/main', { disabled: true }],
    ['change-model 409', 'PATCH', `/models/${PER_SECOND_MODEL}`, { disabled: true }],
  ])('%s, and nothing is changed', async (_, method, path, body) => {
    const named = Object.entries(await targets())
    const concrete = (text: string) => named.reduce((all, [name, id]) => all.replace(`{${name}}`, id), text)
    const sent = body === undefined ? {} : { body: JSON.parse(concrete(JSON.stringify(body))) }
    const refused = await contendedCall()(method, concrete(path), sent)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'changed_meanwhile' } } })
  })

  it.each([
    ['clear-channel 409', '/channels/main'],
    ['clear-model 409', `/models/${PER_SECOND_MODEL}`],
  ])('%s, and the switch stays', async (_, path) => {
    await rig.call('PATCH', path, { body: { disabled: true } })
    const before = await rig.table.readItem(tableKeys.switches())
    const refused = await contendedCall()('DELETE', `${path}/switches`)
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'changed_meanwhile' } } })
    expect(await rig.table.readItem(tableKeys.switches())).toEqual(before)
  })
})
