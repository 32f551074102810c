import { isJsonObject } from '#core/json/json-object.ts'
import { isRequestId } from '#core/request-id.ts'
import type { UpstreamAnswer } from '../../http/upstream-exchange.ts'
import { countUpstreamError, errorClassOfStatus } from '../../telemetry/upstream-errors.ts'
import { parseJson } from './json-reading.ts'
import type { UpstreamHttp } from './upstream-http.ts'

/**
 * The calls of one job over one channel: each carries the id of the request that made the job as `x-client-request-id`, as
 * relayed requests do, and each failure is counted by its class. Otherwise it is the `http` it is made of.
 */
export function createJobUpstreamHttp(
  http: UpstreamHttp,
  { channelId, requestId }: { readonly channelId: string; readonly requestId: string | undefined },
): UpstreamHttp {
  const identity = isRequestId(requestId) ? { 'X-Client-Request-Id': requestId } : {}
  return {
    async send(request) {
      const answer = await http.send({ ...request, headers: { ...request.headers, ...identity } })
      countFailure(answer, channelId)
      return answer
    },
    close: () => http.close(),
  }
}

function countFailure(answer: UpstreamAnswer, channelId: string): void {
  const errorClass = answer.kind === 'response' ? classOfResponse(answer) : classOfSilence(answer)
  if (errorClass !== undefined) {
    countUpstreamError(errorClass, channelId)
  }
}

function classOfResponse({ status, text }: Extract<UpstreamAnswer, { kind: 'response' }>) {
  // A cancel may be answered by a status alone.
  const isOdd = status < 400 && text !== '' && !isJsonObject(parseJson(text))
  return isOdd ? 'odd_body' : errorClassOfStatus(status)
}

/** `timeout` is the reason of `upstream-exchange.ts` for a call that used up its time. */
function classOfSilence({ kind, reason }: Exclude<UpstreamAnswer, { kind: 'response' }>) {
  if (kind === 'not_sent') {
    return 'connect_error'
  }
  return reason === 'timeout' ? 'timeout' : 'broken_answer'
}
