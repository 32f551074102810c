import type { ComponentChildren } from 'preact'

type StatProps = {
  readonly title: string
  readonly children: ComponentChildren
  readonly note?: ComponentChildren
}

/** One number with its name and a line about it. */
export function Stat({ title, children, note }: StatProps) {
  return (
    <div class="stat">
      <dt>{title}</dt>
      <dd>
        <span class="stat-value">{children}</span>
        {note === undefined || note === null ? null : <span class="stat-note">{note}</span>}
      </dd>
    </div>
  )
}
