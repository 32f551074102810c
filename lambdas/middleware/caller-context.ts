import { openCatalogue } from '#adapters/config/gateway-catalogue.ts'
import { once } from '#adapters/once.ts'
import { CallerDirectory } from '#adapters/store/accounts/caller-directory.ts'
import { KeyRateLimiter } from '#adapters/store/accounts/key-rate-limiter.ts'
import { openLeanTable } from '#adapters/store/table/lean-table.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'

/** What finding a caller and the models takes from outside. */
type CallerContext = {
  readonly table: Table
  readonly catalogue: Catalogue
  readonly callers: CallerDirectory
  readonly rates: KeyRateLimiter
}

/** The one context of a process, so that its operations share the keys that one of them has read. */
export const openCallerContext: () => CallerContext = once(() => {
  const table = openLeanTable()
  return { table, catalogue: openCatalogue(), callers: new CallerDirectory(table), rates: new KeyRateLimiter(table) }
})
