import type { Writable } from 'node:stream'

/** The delay before the first attempt to write again after a lost line, and the longest delay between two attempts. */
const FIRST_TRY_MILLISECONDS = 1_000
const LAST_TRY_MILLISECONDS = 60_000

/**
 * Keeps a server running when its output cannot be written: the pipe is closed, the disk is full, or the terminal is gone. Without
 * this, the first lost line ends the process. Lost lines are not written later; the first line that can be written says so.
 */
export function outliveLostOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    let isTrying = false
    stream.on('error', () => {
      if (!isTrying) {
        isTrying = true
        sayWhenPossible(stream, new Date(), () => {
          isTrying = false
        })
      }
    })
  }
}

function sayWhenPossible(stream: Writable, since: Date, said: () => void): void {
  const message = `output was lost: nothing could be written since ${since.toISOString()}`
  const tryIn = (milliseconds: number) => {
    const timer = setTimeout(() => {
      stream.write(`${JSON.stringify({ level: 'WARN', message, timestamp: new Date().toISOString() })}\n`, (error) => {
        if (error === undefined || error === null) {
          said()
        } else {
          tryIn(Math.min(2 * milliseconds, LAST_TRY_MILLISECONDS))
        }
      })
    }, milliseconds)
    timer.unref()
  }
  tryIn(FIRST_TRY_MILLISECONDS)
}
