/** One server-sent event. */
export type ServerSentEvent = {
  /** `message` for an event without a name. */
  readonly event: string
  readonly data: string
  readonly id: string | undefined
}

/** The events of a stream that arrives in pieces. Comments, which keep the connection open, are no events. */
export class ServerSentEvents {
  #rest = ''

  /** The events that are complete with this piece. */
  push(piece: string): readonly ServerSentEvent[] {
    this.#rest += piece
    const blocks = this.#rest.split(/\r\n\r\n|\n\n|\r\r/)
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => readEvent(block))
  }
}

function readEvent(block: string): readonly ServerSentEvent[] {
  let event = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') {
      data.push(value)
    } else if (name === 'event') {
      event = value
    } else if (name === 'id') {
      id = value
    }
  }
  return data.length === 0 ? [] : [{ event, id, data: data.join('\n') }]
}
