import { once } from '#platform/cache.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { CallerDirectory } from '#store/callers.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import { openLeanTable } from '#store/table/lean-table.ts'
import type { Table } from '#store/table/table.ts'

/** What finding a caller and the models takes from outside. */
type CallerContext = {
  readonly table: Table
  readonly currentCatalogue: CurrentCatalogue
  readonly callers: CallerDirectory
  readonly rates: KeyRateLimiter
}

/** The table without the SDK, whatever else of the context is opened: a function may lack the configuration. */
export const openCallerTable: () => Table = once(openLeanTable)

/** The one context of a process, so that its operations share the keys and the switches that one of them has read. */
export const openCallerContext: () => CallerContext = once(() => {
  const table = openCallerTable()
  return {
    table,
    currentCatalogue: new CurrentCatalogue({ table, catalogue: openCatalogue() }),
    callers: new CallerDirectory(table),
    rates: new KeyRateLimiter(table),
  }
})
