import { isJsonObject } from '#core/json/json-object.ts'
import type { UpstreamAnswer } from '../../http/upstream-exchange.ts'
import { parseJson } from './json-reading.ts'
import { readUpstreamError } from './upstream-error.ts'
import type { CancelOutcome } from './video-provider.ts'

/** 401, 403, 429: nobody looked at the task. 404: it is not there, for whatever reason. 408: given up half-way. None says that it runs on. */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

/** What an answer to a cancel means. Only a status of success without an error code is `cancelled`. */
export function cancelOutcome(answer: UpstreamAnswer): CancelOutcome {
  if (answer.kind !== 'response') {
    return 'unknown'
  }
  if (answer.status >= 200 && answer.status < 300) {
    return successOutcome(answer.text)
  }
  const isRefusal = answer.status >= 400 && answer.status < 500 && !UNCERTAIN_STATUSES.has(answer.status)
  return isRefusal ? 'refused' : 'unknown'
}

function successOutcome(text: string): CancelOutcome {
  const body = parseJson(text)
  if (text !== '' && !isJsonObject(body)) {
    return 'unknown'
  }
  return readUpstreamError(body).code === undefined ? 'cancelled' : 'refused'
}
