/**
 * Server-sent events as bytes, one character for each byte: whatever an upstream sends goes on as it came, and characters
 * that are cut between two chunks stay whole. Rules: the event stream format of the HTML standard, section 9.2.
 */

/** One event with the blank line that ends it. */
export type SseEvent = {
  /** Every byte as it came, comments and other fields included. */
  readonly raw: string
  /** The `data` lines joined by line feeds; undefined for an event without one, such as a comment. */
  readonly data: string | undefined
  /** Where the byte at an offset of `data` stands in `raw`. */
  readonly toRaw: (dataOffset: number) => number
}

/**
 * The end of a line and the first byte of the next line's end: a blank line. A carriage return may have its line feed in
 * the next chunk; that byte then leads the next event, where it changes nothing.
 */
const BLANK_LINE = /(?:\r\n|\r(?!\n)|\n)[\r\n]/g

/** Bytes of a blank line that may have come before the chunk in which it is found. */
const OVERLAP = 3

/** An event larger than this is no event of any chat; nothing bounds what an upstream may send. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024

/** One event does not end within any bound that makes sense. */
export class EndlessEventError extends Error {
  override readonly name = 'EndlessEventError'
}

/** Cuts a stream of bytes into events, wherever its chunks begin and end. */
export class SseEventReader {
  #pending = ''

  /** The events that this chunk completes. @throws EndlessEventError */
  push(bytes: string): SseEvent[] {
    const events: SseEvent[] = []
    BLANK_LINE.lastIndex = Math.max(0, this.#pending.length - OVERLAP)
    const text = this.#pending + bytes
    let start = 0
    while (BLANK_LINE.exec(text) !== null) {
      const end =
        text.charCodeAt(BLANK_LINE.lastIndex - 1) === CARRIAGE_RETURN ? afterLineFeed(text) : BLANK_LINE.lastIndex
      events.push(toEvent(text.slice(start, end)))
      start = end
      BLANK_LINE.lastIndex = end
    }
    this.#pending = start === 0 ? text : text.slice(start)
    if (this.#pending.length > EVENT_BYTES_MAX) {
      throw new EndlessEventError(`an event of more than ${EVENT_BYTES_MAX} bytes`)
    }
    return events
  }

  /** What came after the last blank line; undefined when nothing did. Upstreams may leave the last blank line out. */
  end(): SseEvent | undefined {
    const rest = this.#pending
    this.#pending = ''
    return rest === '' ? undefined : toEvent(rest)
  }
}

const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a

function afterLineFeed(text: string): number {
  const index = BLANK_LINE.lastIndex
  return text.charCodeAt(index) === LINE_FEED ? index + 1 : index
}

const LINE = /([^\r\n]*)(?:\r\n|\r|\n|$)/gy

/** Where the value of a data line begins: one space after the colon is not part of it. */
const DATA_FIELD = /^data(?:: ?|$)/

type Part = { readonly dataStart: number; readonly rawStart: number }

function toEvent(raw: string): SseEvent {
  const parts: Part[] = []
  let data: string | undefined
  LINE.lastIndex = 0
  while (LINE.lastIndex < raw.length) {
    const lineStart = LINE.lastIndex
    const line = LINE.exec(raw)?.[1] ?? ''
    const field = DATA_FIELD.exec(line)?.[0]
    if (field !== undefined) {
      const joined: string = data === undefined ? '' : `${data}\n`
      parts.push({ dataStart: joined.length, rawStart: lineStart + field.length })
      data = joined + line.slice(field.length)
    }
  }
  return { raw, data, toRaw: (offset) => rawOffset(parts, offset) }
}

function rawOffset(parts: readonly Part[], dataOffset: number): number {
  const part = parts.findLast(({ dataStart }) => dataStart <= dataOffset)
  return part === undefined ? dataOffset : part.rawStart + dataOffset - part.dataStart
}
