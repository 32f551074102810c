import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { verifyLedger } from './verify-ledger.ts'

/** A tenant has more than a verification within one HTTP request may read. */
export class TenantTooLargeError extends Error {
  override readonly name = 'TenantTooLargeError'
}

/** Pages of one megabyte. A read of all takes some ten seconds; a verification with findings reads a tenant three times. */
const PAGES_MAX = 60

/** Whoever may only read may verify. */
const refuseWrite = () => Promise.reject(new TypeError('a verification writes nothing'))

/** The findings, empty if all rules hold, and the rows of the ledger that were read. */
export type BoundedVerification = { readonly broken: readonly string[]; readonly rows: number }

/**
 * Verifies one tenant with a bounded number of requests.
 * @throws TenantTooLargeError
 */
export async function verifyBounded(
  table: Pick<Table, 'readItem' | 'readItems' | 'queryPage'>,
  tenantId: string,
): Promise<BoundedVerification> {
  const rows = new Set<string>()
  const ledger = tableKeys.ledgerGrant(tenantId, '').PK
  let pages = 0
  const bounded: Table = {
    ...table,
    updateItem: refuseWrite,
    transact: refuseWrite,
    queryPage: async (query, startKey) => {
      pages += 1
      if (pages > PAGES_MAX) {
        throw new TenantTooLargeError(`tenant ${tenantId} has more than ${PAGES_MAX} pages`)
      }
      const page = await table.queryPage(query, startKey)
      for (const { PK, SK } of page.items) {
        if (PK === ledger) {
          rows.add(String(SK))
        }
      }
      return page
    },
  }
  const broken = await verifyLedger(bounded, tenantId)
  return { broken: broken.map(({ message }) => message), rows: rows.size }
}
