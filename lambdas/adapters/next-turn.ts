import { setImmediate } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that nobody else gets from here. Long work waits for one before each of its parts, so
 * that however many requests have such work, the process is never kept busy for longer than by one part.
 */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => setImmediate())
  last = turn
  return turn
}
