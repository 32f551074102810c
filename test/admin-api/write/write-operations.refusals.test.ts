import { describe, expect, it } from 'vitest'
import { REFUSAL_CODES, type RefusalCode, StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { explainFailure } from '../../../lib/cli/failures.ts'
import { writeCaller } from './write-rig.ts'

const errorOf = (code: RefusalCode) => ({ message: 'why', type: 'invalid_request_error', code, param: null })
const conflict = (code: RefusalCode) => ({ status: 409, error: errorOf(code) })

/** The response to each refusal whose message is `why`. */
const RESPONSES: Readonly<Record<RefusalCode, { readonly status: number; readonly error: object }>> = {
  not_found: { status: 404, error: errorOf('not_found') },
  id_taken: { status: 409, error: { ...errorOf('id_taken'), param: 'id' } },
  below_zero: {
    status: 409,
    error: { ...errorOf('below_zero'), message: 'why; `allow_debt` permits this', param: 'allow_debt' },
  },
  key_unusable: conflict('key_unusable'),
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
