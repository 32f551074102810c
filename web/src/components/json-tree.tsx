import { useState } from 'preact/hooks'

type JsonTreeProps = {
  readonly value: unknown
  readonly name?: string
  /** Objects deeper than this begin closed. */
  readonly openDepth?: number
}

/** Objects with more entries show the first ones; the copy beside the tree is whole. */
const ENTRIES_MAX = 200

/** A JSON value as nodes: every string stays text. A closed node has no children in the page: a reply of an upstream may hold millions. */
export function JsonTree({ value, name, openDepth = 2 }: JsonTreeProps) {
  return (
    <div class="json">
      <Node value={value} name={name} openDepth={openDepth} />
    </div>
  )
}

function Node({
  value,
  name,
  openDepth,
}: {
  readonly value: unknown
  readonly name: string | undefined
  readonly openDepth: number
}) {
  const [isOpen, setOpen] = useState(openDepth > 0)
  const label = name === undefined ? null : <span class="json-name">{name}: </span>
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json-leaf">
        {label}
        <span class={`json-${value === null ? 'null' : typeof value}`}>{JSON.stringify(value) ?? 'absent'}</span>
      </div>
    )
  }
  const entries = Object.entries(value)
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
  return (
    <details class="json-node" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label}
        <span class="json-size">{size}</span>
      </summary>
      {isOpen ? <Entries entries={entries} openDepth={openDepth - 1} /> : null}
    </details>
  )
}

type EntriesProps = { readonly entries: readonly (readonly [string, unknown])[]; readonly openDepth: number }

function Entries({ entries, openDepth }: EntriesProps) {
  return (
    <>
      {entries.slice(0, ENTRIES_MAX).map(([key, child]) => (
        <Node key={key} name={key} value={child} openDepth={openDepth} />
      ))}
      {entries.length > ENTRIES_MAX ? <p class="hint">{entries.length - ENTRIES_MAX} more</p> : null}
    </>
  )
}
