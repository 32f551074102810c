import { parseJsonText } from '../json/parse-json-text.ts'
import type { Edit } from './reply-scan.ts'

/**
 * Server-sent events as bytes, one character for each byte: events are relayed unchanged, and characters that are cut
 * between two chunks stay whole. Rules: the event stream format of the HTML standard, section 9.2.
 */

/** One event with the blank line that ends it. */
export type SseEvent = {
  /** Its `data` and `event` lines, byte by byte, and its blank line; empty if it has no such line. */
  readonly raw: string
  /** The `data` lines joined by line feeds; undefined for an event without one. */
  readonly data: string | undefined
  /** Whether its `event` line calls it an error. */
  readonly isError: boolean
  /** The offset in `raw` of an offset in `data`. */
  readonly toRaw: (dataOffset: number) => number
}

/**
 * The end of a line and the first byte of the next line's end: a blank line. A carriage return may have its line feed in
 * the next chunk; that byte then leads the next event, where it changes nothing.
 */
const BLANK_LINE = /(?:\r\n|\r(?!\n)|\n)[\r\n]/g

/** Bytes of a blank line that may have come before the chunk in which it is found. */
const OVERLAP = 3

/** The data of the event that ends the streams of the OpenAI API, except those of responses. */
export const END_OF_STREAM = '[DONE]'

/** No upstream sends a larger event. Without a bound, an upstream could send one without end. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024

/** One event is larger than the bounds. */
export class EndlessEventError extends Error {
  override readonly name = 'EndlessEventError'
  /** Whether any of its data has come: a comment without end is not the work of a model. */
  readonly hasData: boolean
  constructor(hasData: boolean) {
    super('an event of more bytes or lines than any')
    this.hasData = hasData
  }
}

/** A line with data, anywhere in an event. */
const DATA_LINE = /(?:^|[\r\n])data:/

/** UTF-8 of the byte order mark that a stream may begin with. It is not part of the first event. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/** Cuts a stream of bytes into events, wherever its chunks begin and end. Reads each byte once. */
export class SseEventReader {
  /** The part of an incomplete event that has come. */
  #pending: string[] = []
  #pendingBytes = 0
  /** The last bytes of it: a blank line may begin in one chunk and end in the next. */
  #tail = ''
  /** Bytes at the begin of the stream that may become a byte order mark; undefined once that is decided. */
  #mark: string | undefined = ''

  /** The events that this chunk completes. @throws EndlessEventError */
  push(chunk: string): SseEvent[] {
    const bytes = this.#withoutMark(chunk)
    if (this.#pendingBytes === 0) {
      return this.#cut(bytes, 0)
    }
    BLANK_LINE.lastIndex = 0
    const seam = this.#tail + bytes
    if (!BLANK_LINE.test(seam)) {
      this.#keep(bytes, seam)
      return []
    }
    const searchedBytes = this.#pendingBytes - this.#tail.length
    const text = this.#pending.join('') + bytes
    this.#forget()
    return this.#cut(text, searchedBytes)
  }

  /** The bytes after the last blank line, which upstreams may leave out; undefined when there are none. */
  end(): SseEvent | undefined {
    const rest = (this.#mark ?? '') + this.#pending.join('')
    this.#mark = undefined
    this.#forget()
    return rest === '' ? undefined : withoutUnfinishedLine(toEvent(rest))
  }

  /** A chunk may end inside of the mark, which is then held until the next one. */
  #withoutMark(chunk: string): string {
    if (this.#mark === undefined) {
      return chunk
    }
    const bytes = this.#mark + chunk
    if (bytes.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.startsWith(bytes)) {
      this.#mark = bytes
      return ''
    }
    this.#mark = undefined
    return bytes.startsWith(BYTE_ORDER_MARK) ? bytes.slice(BYTE_ORDER_MARK.length) : bytes
  }

  #cut(text: string, searchedBytes: number): SseEvent[] {
    const events: SseEvent[] = []
    let start = 0
    BLANK_LINE.lastIndex = searchedBytes
    while (BLANK_LINE.exec(text) !== null) {
      const end =
        text.charCodeAt(BLANK_LINE.lastIndex - 1) === CARRIAGE_RETURN ? afterLineFeed(text) : BLANK_LINE.lastIndex
      events.push(toEvent(text.slice(start, end)))
      start = end
      BLANK_LINE.lastIndex = end
    }
    const rest = text.slice(start)
    this.#keep(rest, rest)
    return events
  }

  #keep(bytes: string, seam: string): void {
    if (bytes === '') {
      return
    }
    this.#pending.push(bytes)
    this.#pendingBytes += bytes.length
    this.#tail = seam.slice(-OVERLAP)
    if (this.#pendingBytes > EVENT_BYTES_MAX) {
      throw new EndlessEventError(DATA_LINE.test(this.#pending.join('')))
    }
  }

  #forget(): void {
    this.#pending = []
    this.#pendingBytes = 0
    this.#tail = ''
  }
}

const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a

function afterLineFeed(text: string): number {
  const index = BLANK_LINE.lastIndex
  return text.charCodeAt(index) === LINE_FEED ? index + 1 : index
}

const DATA_NAME = 'data:'
const SPACE = 0x20

/** An event of one data line and a blank line, as most upstreams send them: read without patterns. Undefined for others. */
function oneLineEvent(raw: string): SseEvent | undefined {
  const end = raw.length - 2
  const isOneLine = raw.indexOf('\n') === end && raw.charCodeAt(end + 1) === LINE_FEED && !raw.includes('\r')
  if (!(isOneLine && raw.startsWith(DATA_NAME))) {
    return undefined
  }
  const start = raw.charCodeAt(DATA_NAME.length) === SPACE ? DATA_NAME.length + 1 : DATA_NAME.length
  return { raw, data: raw.slice(start, end), isError: false, toRaw: (offset) => start + offset }
}

const LINE = /([^\r\n]*)(?:\r\n|\r|\n|$)/gy

/** Where the value of a data line begins: one space after the colon is not part of the value. */
const DATA_FIELD = /^data(?:: ?|$)/

type Part = { readonly dataStart: number; readonly rawStart: number }

/** Lines of one event: data stands on one, or on a few. */
const LINES_MAX = 16_384

/** @throws EndlessEventError */
function toEvent(raw: string): SseEvent {
  return oneLineEvent(raw) ?? eventOfLines(raw)
}

/** @throws EndlessEventError */
function refuseManyLines(bytes: string): void {
  let lines = 0
  for (let at = 0; at < bytes.length && lines <= LINES_MAX; at += 1) {
    const code = bytes.charCodeAt(at)
    lines += code === CARRIAGE_RETURN || code === LINE_FEED ? 1 : 0
  }
  if (lines > LINES_MAX) {
    throw new EndlessEventError(DATA_LINE.test(bytes))
  }
}

function eventOfLines(bytes: string): SseEvent {
  refuseManyLines(bytes)
  const raw = shownLines(bytes)
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
  return { raw, data, isError: ERROR_LINE.test(raw), toRaw: (offset) => rawOffset(parts, offset) }
}

/** Any `event` line that says error makes the event an error, although clients read the last line alone: what it holds may name the upstream. */
const ERROR_LINE = /(?:^|[\r\n])event:[ \t]*error[ \t]*(?:[\r\n]|$)/i

/**
 * A line that no client reads: a comment, or a whole line of `id`, `retry` or an unknown field. Upstreams tell their names there.
 * It begins at the begin of a line, and ends with it. An unfinished line stays: it may be the begin of data.
 */
const UNSHOWN = /(?<=^|[\r\n])(?::[^\r\n]*(?:\r\n|\r|\n|$)|(?!(?:data|event)(?::|[\r\n]))[^\r\n]+(?:\r\n|\r|\n))/g

function shownLines(bytes: string): string {
  const rest = bytes.replaceAll(UNSHOWN, '')
  if (rest === bytes || /[^\r\n]/.test(rest)) {
    return rest
  }
  // A line feed may belong to the carriage return that ended the event before.
  return bytes.startsWith('\n') ? '\n' : ''
}

/** Behind the last data of a stream, half a line is no begin of data. */
const UNFINISHED = /(?<=[\r\n])(?!data:|event:)[^\r\n]+$/

function withoutUnfinishedLine(event: SseEvent): SseEvent {
  return event.data === undefined ? event : { ...event, raw: event.raw.replace(UNFINISHED, '') }
}

function rawOffset(parts: readonly Part[], dataOffset: number): number {
  let low = 0
  let high = parts.length
  while (low + 1 < high) {
    const middle = (low + high) >> 1
    if ((parts[middle]?.dataStart ?? 0) <= dataOffset) {
      low = middle
    } else {
      high = middle
    }
  }
  const part = parts[low]
  return part === undefined ? dataOffset : part.rawStart + dataOffset - part.dataStart
}

/** Applies edits of the data of an event to its bytes. They are in its order and do not overlap, and every other byte stays. */
export function editEvent({ raw, toRaw }: SseEvent, edits: readonly Edit[]): string {
  if (edits.length === 0) {
    return raw
  }
  // Not the place of an `end`: behind a value that ends with its line, that is on the next one.
  const after = (end: number) => toRaw(end - 1) + 1
  let edited = ''
  let keptFrom = 0
  for (const { start, end, replacement } of edits) {
    const from = Math.max(keptFrom, start === end ? after(start) : toRaw(start))
    edited += raw.slice(keptFrom, from) + replacement
    keptFrom = Math.max(from, start === end ? from : after(end))
  }
  return edited + raw.slice(keptFrom)
}

/**
 * Whether a stream ended, without a blank line, inside an event: the rest is neither `[DONE]` nor complete JSON.
 */
export function isHalfEvent({ raw, data }: Pick<SseEvent, 'raw' | 'data'>): boolean {
  if (data === undefined) {
    return /[^\r\n]/.test(raw)
  }
  return data.trim() !== END_OF_STREAM && !isJson(data)
}

function isJson(text: string): boolean {
  try {
    parseJsonText(text)
    return true
  } catch {
    return false
  }
}

/** Media types are compared without case, and may have parameters (RFC 9110, section 8.3.1). */
const EVENT_STREAM = /^\s*text\/event-stream\s*(;|$)/i

/**
 * Whether the reply to a request for a stream is a stream, by its content type. A reply without a type is taken for the
 * stream that was asked for; any other type is a whole reply.
 */
export function isEventStream(contentType: string | undefined): boolean {
  return EVENT_STREAM.test(contentType ?? 'text/event-stream')
}
