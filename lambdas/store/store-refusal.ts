/**
 * Why a change is refused. The admin API responds with the same code: to `not_found` with a 404, to the others with a 409.
 *
 * - `not_found`: the tenant or the key does not exist.
 * - `id_taken`: the id belongs to another tenant, or to a row of the ledger with another amount.
 * - `name_taken`: another tenant has the name, which then finds neither.
 * - `below_zero`: the available balance would fall below zero.
 * - `key_unusable`: the key is revoked or has expired.
 * - `rotated_already`: an earlier rotation is under way.
 * - `tenant_suspended`: a new key would be refused.
 * - `redrive_refused`: the job has ended, or its execution runs.
 * - `changed_meanwhile`: somebody else changes the target at the same time; another try may succeed.
 */
export const REFUSAL_CODES = [
  'not_found',
  'id_taken',
  'name_taken',
  'below_zero',
  'key_unusable',
  'rotated_already',
  'tenant_suspended',
  'redrive_refused',
  'changed_meanwhile',
] as const

/** One of {@link REFUSAL_CODES}. */
export type RefusalCode = (typeof REFUSAL_CODES)[number]

/** A change that was not made, because the table forbids it. The message is for operators. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal'
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Whether an error is a refusal with this code. */
export function isRefusal(error: unknown, code: RefusalCode): error is StoreRefusal {
  return error instanceof StoreRefusal && error.code === code
}
