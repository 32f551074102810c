import { type ServerSentEvent, ServerSentEvents } from '../core/playground/sse.ts'

/** The server-sent events of a response as they arrive. Leaving the loop closes the connection. @throws the error of a broken connection. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerSentEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) {
    return
  }
  const events = new ServerSentEvents()
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      yield* events.push(piece.value)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
