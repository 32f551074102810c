import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS } from '#core/cdn/front-door.ts'
import { UpstreamTimeoutError } from '#core/errors.ts'
import type { ClientResponse } from './client-response.ts'
import type { RelayExchange } from './relay-exchange.ts'

/** Leaves the front door time for the response itself. */
const MARGIN_SECONDS = 10

/** A response that can end before it is complete. */
type EndableResponse = Pick<ClientResponse, 'isOpen'> & { readonly giveUp: () => void }

const RESPONSE_MILLISECONDS_MAX = (FRONT_DOOR_SILENCE_SECONDS - MARGIN_SECONDS) * 1_000

/**
 * Bounds the silence before the first byte of a response through the front door, which would give up the response with a page of its own
 * that SDKs retry. The client gets a 504 that is not to be retried; the request then goes on as after a client that has left, and is
 * billed if the upstream replies. A response that has begun sends its own signs of life.
 * @returns a function to call when the request is settled.
 */
export function boundSilence(
  exchange: Pick<RelayExchange, 'request' | 'note' | 'tellFailure'>,
  response: EndableResponse,
  millisecondsMax = RESPONSE_MILLISECONDS_MAX,
): () => void {
  if (exchange.request.headerLines(FRONT_DOOR_HEADER).length === 0) {
    return () => undefined
  }
  const timer = setTimeout(() => {
    if (!response.isOpen) {
      exchange.note({ tooLateForFrontDoor: true })
      exchange.tellFailure(new UpstreamTimeoutError(), { isBilled: false })
      response.giveUp()
    }
  }, millisecondsMax)
  return () => clearTimeout(timer)
}
