import type { ComponentChildren } from 'preact'

/** What a row is called, and a fainter line below that belongs to it. */
export function TwoLines({ main, below }: { readonly main: ComponentChildren; readonly below: ComponentChildren }) {
  return (
    <span class="two-lines">
      <span>{main}</span>
      <span>{below}</span>
    </span>
  )
}
