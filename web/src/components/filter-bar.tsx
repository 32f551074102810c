import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import type { UrlFilters } from '../state/url-filters.ts'
import { Button } from './button.tsx'

type FilterBarProps = { readonly url: UrlFilters; readonly children: ComponentChildren }

/** The filters of a page in one row, with a way to remove them all. */
export function FilterBar({ url, children }: FilterBarProps) {
  return (
    <search class="filters">
      {children}
      {url.clear === undefined ? null : (
        <Button kind="quiet" icon="close" onClick={url.clear}>
          Clear filters
        </Button>
      )}
    </search>
  )
}

type FilterProps = {
  readonly url: UrlFilters
  readonly name: string
  readonly label: string
}

/** A filter that is one of a few values; the first option is none of them. */
export function SelectFilter(
  props: FilterProps & { readonly any: string; readonly options: readonly (readonly [value: string, title: string])[] },
) {
  const { url, name, label, any, options } = props
  const id = useId()
  const value = url.filters[name] ?? ''
  const isKnown = value === '' || options.some(([option]) => option === value)
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <select id={id} data-filter value={value} onChange={(event) => url.change({ [name]: event.currentTarget.value })}>
        <option value="">{any}</option>
        {isKnown ? null : <option value={value}>{value}</option>}
        {options.map(([option, title]) => (
          <option key={option} value={option}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A filter that a person types; it holds from Enter on, or when the field is left. */
export function TextFilter(props: FilterProps & { readonly placeholder?: string; readonly type?: 'search' | 'date' }) {
  const { url, name, label, placeholder, type = 'search' } = props
  const id = useId()
  const [draft, setDraft] = useDraft(url.filters[name] ?? '')
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        data-filter
        type={type}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => url.change({ [name]: event.currentTarget.value.trim() })}
      />
    </div>
  )
}

/** Typed text; it survives re-renders until the url catches up. */
export function useDraft(value: string) {
  const [draft, setDraft] = useState(value)
  useEffect(() => setDraft(value), [value])
  return [draft, setDraft] as const
}
