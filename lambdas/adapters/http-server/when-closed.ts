import type { ServerResponse } from 'node:http'

/**
 * Calls a listener once the connection of a response has closed: at once where the client left before anybody looked at its request,
 * because the event does not come twice.
 */
export function whenClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) {
    listener()
  } else {
    response.once('close', listener)
  }
}
