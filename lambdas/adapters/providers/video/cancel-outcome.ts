import { isJsonObject } from '#core/json/json-object.ts'
import type { WholeOutcome } from '../../http/exchange-whole.ts'
import { parseJson } from './json-reading.ts'
import { readUpstreamError } from './upstream-error.ts'
import type { CancelOutcome } from './video-provider.ts'

/**
 * Refusals that do not say that the task runs on. 401, 403, 429: the upstream did not look at the task. 404: the task is missing,
 * whatever the cause. 408: the upstream gave up half-way.
 */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

/** The meaning of the reply to a cancel. Only a status of success without an error code is `cancelled`. */
export function cancelOutcome(outcome: WholeOutcome): CancelOutcome {
  if (outcome.kind !== 'response') {
    return 'unknown'
  }
  if (outcome.status >= 200 && outcome.status < 300) {
    return successOutcome(outcome.text)
  }
  const isRefusal = outcome.status >= 400 && outcome.status < 500 && !UNCERTAIN_STATUSES.has(outcome.status)
  return isRefusal ? 'refused' : 'unknown'
}

function successOutcome(text: string): CancelOutcome {
  const body = parseJson(text)
  if (text !== '' && !isJsonObject(body)) {
    return 'unknown'
  }
  return readUpstreamError(body).code === undefined ? 'cancelled' : 'refused'
}
