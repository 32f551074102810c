import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

type PageProps = {
  readonly title: string
  /** One sentence about what the page shows. */
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** The first page keeps the focus where the browser puts it. */
let isFirst = true

/** The frame of a page: its title, which is also the document's, gets the focus when somebody navigates here. */
export function Page({ title, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    document.title = `${title} · Reelgate`
  }, [title])
  useLayoutEffect(() => {
    if (!isFirst) {
      heading.current?.focus({ preventScroll: true })
    }
    isFirst = false
  }, [])
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead === undefined ? null : <p class="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
