import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { useSession } from '../api/session.ts'
import { pagesOf } from '../core/console-page.ts'
import { type Hotkey, readHotkey } from '../core/hotkey.ts'
import { settings } from '../state/settings.ts'
import { pageUrl } from './navigation.tsx'

/** How long `g` waits for the letter of a page. */
const PREFIX_MILLISECONDS = 1_500

/** Listens for shortcuts while nothing modal is open. */
export function useHotkeys(onHelp: () => void): void {
  const { route, query } = useLocation()
  const { role } = useSession()
  const prefixUntil = useRef(0)
  useEffect(() => {
    const toPage = (letter: string) => {
      const page = pagesOf(role).find((each) => each.letter === letter)
      if (page !== undefined) {
        route(pageUrl(page, query.tenant))
      }
    }
    const listener = (event: KeyboardEvent) => {
      const isModal = document.querySelector('dialog[open]') !== null
      if (event.defaultPrevented || event.isComposing || isModal || !settings.get().hasHotkeys) {
        return
      }
      const hotkey = readHotkey(factsOf(event), event.timeStamp < prefixUntil.current)
      prefixUntil.current = hotkey?.kind === 'prefix' ? event.timeStamp + PREFIX_MILLISECONDS : 0
      if (hotkey === null) {
        return
      }
      event.preventDefault()
      if (hotkey.kind === 'page') {
        toPage(hotkey.letter)
      } else if (hotkey.kind === 'help') {
        onHelp()
      } else {
        moveOnPage(hotkey.kind)
      }
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [role, query.tenant, route, onHelp])
}

function factsOf(event: KeyboardEvent) {
  const target = event.target instanceof HTMLElement ? event.target : document.body
  return {
    key: event.key,
    hasModifier: event.ctrlKey || event.metaKey || event.altKey,
    element: target.localName,
    isEditable: target.isContentEditable,
  }
}

/** Moves the focus to a filter or between rows, or opens the row that has it. */
function moveOnPage(kind: Exclude<NonNullable<Hotkey>['kind'], 'page' | 'help'>): void {
  const rows = [...document.querySelectorAll<HTMLElement>('tr[data-row]')]
  const index = rows.findIndex((row) => row.contains(document.activeElement))
  if (kind === 'filter') {
    document.querySelector<HTMLElement>('[data-filter]')?.focus()
  } else if (kind === 'next') {
    rows[Math.min(index + 1, rows.length - 1)]?.focus()
  } else if (kind === 'previous') {
    rows[Math.max(index - 1, 0)]?.focus()
  } else if (kind === 'open') {
    rows[index]?.querySelector<HTMLElement>('a, button')?.click()
  }
}
