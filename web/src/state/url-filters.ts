import { useLocation } from 'preact-iso/router'
import { type Filters, isFiltered, readFilters, urlWithFilters } from '../core/filters.ts'

/** The filters of a page, which stand in its url alone. */
export type UrlFilters = {
  readonly filters: Filters
  /** Changes some filters; an empty value removes one. The browser's back button undoes a change. */
  readonly change: (changes: Filters) => void
  /** Removes all but those that choose what the page is about; undefined while there are none. */
  readonly clear: (() => void) | undefined
}

/** Reads and changes the filters of a page by its url. */
export function useUrlFilters(names: readonly string[]): UrlFilters {
  const { path, query, route } = useLocation()
  const filters = readFilters(query, names)
  const scope = query.tenant === undefined ? {} : { tenant: query.tenant }
  return {
    filters,
    change: (changes) => route(urlWithFilters(path, query, changes)),
    clear: isFiltered(filters) ? () => route(urlWithFilters(path, scope)) : undefined,
  }
}
