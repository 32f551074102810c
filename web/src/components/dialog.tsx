import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

type DialogProps = {
  readonly title: string
  /** A sheet stands at the right side of the window and shows details. */
  readonly kind?: 'dialog' | 'sheet'
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** To what opened a dialog, or to the title of the page if the action has removed it. A dialog or a page that came since keeps the focus. */
function returnFocus(opener: Element | null): void {
  const to = opener?.isConnected ? opener : document.querySelector('h1')
  if (document.activeElement === document.body && to instanceof HTMLElement) {
    to.focus()
  }
}

/** A native modal dialog; mounted means open. Esc closes it, and the focus returns to what opened it. */
export function Dialog({ title, kind = 'dialog', onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    // Until the dialog is out of the document, nothing outside takes the focus.
    return () => queueMicrotask(() => returnFocus(opener))
  }, [])
  const clickOutside = (event: MouseEvent) => {
    if (kind === 'sheet' && event.target === dialog.current) {
      onClose()
    }
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes the dialog by the keyboard
    <dialog ref={dialog} class={kind} aria-labelledby={id} onClose={onClose} onClick={clickOutside}>
      <div class="dialog-frame">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}
