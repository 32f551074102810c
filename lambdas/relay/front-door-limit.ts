import { UpstreamTimeoutError } from '#core/errors.ts'
import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS } from '#core/http.ts'
import type { ClientResponse } from './client-response.ts'
import type { RelayExchange } from './relay-exchange.ts'

/** Leaves the front door time for the response itself. */
const MARGIN_SECONDS = 10

/** A response that can end before it is complete. */
type EndableResponse = Pick<ClientResponse, 'isOpen'> & { readonly giveUp: () => void }

const RESPONSE_MILLISECONDS_MAX = (FRONT_DOOR_SILENCE_SECONDS - MARGIN_SECONDS) * 1_000

/** Lambda gives a process ten seconds to start, and the requests that waited for it a moment to reach it. */
const START_MILLISECONDS_MAX = 15_000

/**
 * Bounds the silence before the first byte of a response through the front door, which would give up the response with a page of its own
 * that SDKs retry. The client gets a 504 that is not to be retried; the request then goes on as after a client that has left, and is
 * billed if the upstream replies. A response that has begun sends its own signs of life. The front door counts the time in which a process
 * started for the request, so the time of a process that has just started is counted from its start.
 * @param ageMilliseconds since the start of the process.
 * @returns a function to call when the request is settled.
 */
export function boundSilence(
  exchange: Pick<RelayExchange, 'request' | 'note' | 'tellFailure'>,
  response: EndableResponse,
  ageMilliseconds = performance.now(),
): () => void {
  if (exchange.request.headerLines(FRONT_DOOR_HEADER).length === 0) {
    return () => undefined
  }
  const waitedMilliseconds = ageMilliseconds < START_MILLISECONDS_MAX ? ageMilliseconds : 0
  const timer = setTimeout(() => {
    if (!response.isOpen) {
      exchange.note({ tooLateForFrontDoor: true })
      exchange.tellFailure(new UpstreamTimeoutError(), { isBilled: false })
      response.giveUp()
    }
  }, RESPONSE_MILLISECONDS_MAX - waitedMilliseconds)
  return () => clearTimeout(timer)
}
