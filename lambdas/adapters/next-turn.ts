import { setImmediate } from 'node:timers/promises'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other call gets. Long work awaits a turn before each of its steps. The process is
 * then never busy for longer than one step, however many requests have such work.
 */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => setImmediate())
  last = turn
  return turn
}
