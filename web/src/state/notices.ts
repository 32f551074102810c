import { createStore } from './store.ts'

/** A short message about something that has happened. */
export type Notice = { readonly id: number; readonly message: string; readonly tone: 'good' | 'bad' }

/** The messages that are shown now, the newest last. */
export const notices = createStore<readonly Notice[]>([])

/** Long enough to be read and spoken. */
const SHOWN_MILLISECONDS = 6_000

/** More at once are not read. */
const SHOWN_MAX = 3

let count = 0

/** Shows a message for some seconds, in the one status region of the page. */
export function notify(message: string, tone: Notice['tone'] = 'good'): void {
  count += 1
  const notice = { id: count, message, tone }
  notices.set([...notices.get(), notice].slice(-SHOWN_MAX))
  setTimeout(() => dismiss(notice.id), SHOWN_MILLISECONDS)
}

/** Removes a message before its time. */
export function dismiss(id: number): void {
  notices.set(notices.get().filter((notice) => notice.id !== id))
}
