import { checkOutcome } from '../traffic/check-outcome.ts'
import type { Outcome } from '../traffic/send-marked.ts'

/** A time in which no gateway listened, from SIGKILL until the next one did; times of `performance.now()`. */
export type Downtime = { readonly from: number; readonly to: number }

/** Something that went wrong, and when; a time of `performance.now()`. */
export type TimedFailure = { readonly failure: string; readonly at: number }

/** Longest failure that is told. */
const CHARACTERS_MAX = 200

/** Minutes of one failure that are told; what happens more often is one of the faults that a soak makes. */
const MINUTES_MAX = 5

const MINUTE = 60_000

/**
 * What went wrong with a response, by its status and the code of its error, or by how its connection ended; undefined for a client that has left, or
 * has a whole response. Prompts and keys are no part of it.
 */
export function failureOf(outcome: Outcome): string | undefined {
  const { status, end, body, connectionError = 'closed' } = outcome
  if (end === 'left') {
    return undefined
  }
  if (status === undefined) {
    return `no response: ${connectionError}`
  }
  if (end === 'broken') {
    return `status ${status}, then the connection ended: ${connectionError}`
  }
  const [found] = checkOutcome(outcome)
  const code = /"error":\{[^}]*"code":"?(\w+)/.exec(body)?.[1]
  if (found === undefined || code === undefined) {
    return found?.slice(0, CHARACTERS_MAX)
  }
  return status === 200 ? `a stream that ended with the error ${code}` : `status ${status}: ${code}`
}

/** Whether a request met a killed process: it was open at the SIGKILL, or was sent before the next process listened. */
export function metDowntime(
  { milliseconds, endedAt }: { readonly milliseconds: number; readonly endedAt: number },
  downtimes: readonly Downtime[],
): boolean {
  return downtimes.some(({ from, to }) => endedAt >= from && endedAt - milliseconds <= to)
}

/** What a line of the log says went wrong: its message, and the name and message of its error; undefined below WARN. */
export function failureOfLine(line: string): string | undefined {
  if (!(line.includes('"level":"ERROR"') || line.includes('"level":"WARN"'))) {
    return undefined
  }
  const { message, error }: { message: string; error?: { name: string; message: string } } = JSON.parse(line)
  const detail = error === undefined ? '' : ` (${error.name}: ${error.message})`
  return `${message}${detail}`.slice(0, CHARACTERS_MAX)
}

/** Lines of a list, the rarest failure last: how often, and for a rare one in which minutes after the begin. */
export function listFailures(failures: readonly TimedFailure[], began: number): readonly string[] {
  const groups = [...Map.groupBy(failures, ({ failure }) => failure)]
  return groups
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([failure, each]) => {
      const minutes = each.map(({ at }) => ((at - began) / MINUTE).toFixed(1))
      return `- ${each.length} x ${failure}${each.length > MINUTES_MAX ? '' : `, minute ${minutes.join(', ')}`}`
    })
}
