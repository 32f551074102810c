import type { CurrentCatalogue } from '#adapters/config/current-catalogue.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'

/** A deployment in which no operator has set a switch; nothing is read. */
export function unswitched(catalogue: Catalogue): Pick<CurrentCatalogue, 'read' | 'readBeside'> {
  return { read: async () => catalogue, readBeside: (other) => other() }
}
