import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { openCatalogue } from '../config/gateway-catalogue.ts'
import { CallerDirectory } from '../ledger/caller-directory.ts'
import { type LeanTable, openLeanTable } from '../ledger/lean-table.ts'
import { once } from '../once.ts'
import { KeyRateLimiter } from '../stores/key-rate-limiter.ts'

/** What knowing a caller and the models takes from outside. */
type CallerContext = {
  readonly table: LeanTable
  readonly catalogue: Catalogue
  readonly callers: CallerDirectory
  readonly rates: KeyRateLimiter
}

/** The one context of a process: keys that one of its operations has read are known to all. */
export const openCallerContext: () => CallerContext = once(() => {
  const table = openLeanTable()
  return { table, catalogue: openCatalogue(), callers: new CallerDirectory(table), rates: new KeyRateLimiter(table) }
})
