/** The filters of a page as they stand in its url. An absent filter has no value. */
export type Filters = Readonly<Record<string, string>>

/** The filters of a page without empty values and without parameters that are none of its filters. */
export function readFilters(query: Filters, names: readonly string[]): Filters {
  return Object.fromEntries(
    names.flatMap((name) => (query[name] === undefined || query[name] === '' ? [] : [[name, query[name]]])),
  )
}

/** A url of the same path with some filters changed; an empty value removes a filter. Names are sorted, so equal filters have one url. */
export function urlWithFilters(path: string, query: Filters, changes: Filters = {}): string {
  const entries = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== '')
  const search = new URLSearchParams(entries.sort(([left], [right]) => (left < right ? -1 : 1))).toString()
  return search === '' ? path : `${path}?${search}`
}

/** Whether any filter is set beside those that choose what the page is about, such as its tenant. */
export function isFiltered(filters: Filters, scope: readonly string[] = ['tenant']): boolean {
  return Object.keys(filters).some((name) => !scope.includes(name))
}
