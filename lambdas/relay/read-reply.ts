import type { AbortNotice } from '#core/abort-notice.ts'
import type { ErrorFacts, ErrorForm } from '#core/api/error-form.ts'
import { hiddenInRefusal } from '#core/catalogue/hidden-fields.ts'
import { ModelNotFoundError, UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import { OPEN_BRACE } from '#core/json/json-scanner.ts'
import { type JsonObject, parseJsonObject, parseJsonText } from '#core/json/parse-json-text.ts'
import { readUpstreamError } from '#core/providers/reply-reading.ts'
import { type ReplyRules, withoutHidden } from '#core/relay/reply-scan.ts'
import { type StreamedJsonForm, StreamedJsonReply } from '#core/relay/whole-reply.ts'
import { nextTurn } from '#platform/concurrency.ts'
import { ResponseBrokenError } from '#platform/http/response-body.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import type { UpstreamReply } from './call-channel.ts'
import type { ClientResponse } from './client-response.ts'
import { sendPiece } from './send-response.ts'

/** How long a reply is read on for its usage after the client has left. */
export const ABANDONED_MILLISECONDS_MAX = 30_000

/** How long an upstream that has said `[DONE]` may take to end its reply before the connection is closed. */
const LAST_BYTES_MILLISECONDS_MAX = 1_000

type Destroyable = Pick<UpstreamReply['body'], 'destroy'>

/**
 * Destroys a reply that is read for its usage alone: {@link ABANDONED_MILLISECONDS_MAX} after the client has left, or as soon as the
 * process ends.
 * @returns a function to call when the reply was read.
 */
export function boundWhenGone(
  body: Destroyable,
  { gone, ending }: Pick<ClientResponse, 'gone' | 'ending'>,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const leave = () => body.destroy()
  const start = () => {
    timer = setTimeout(leave, ABANDONED_MILLISECONDS_MAX)
  }
  ending?.addEventListener('abort', leave, { once: true })
  if (gone.aborted) {
    start()
  } else {
    gone.addEventListener('abort', start, { once: true })
  }
  return () => {
    clearTimeout(timer)
    gone.removeEventListener('abort', start)
    ending?.removeEventListener('abort', leave)
  }
}

/** Reads the rest of a reply that is complete for its reader, so that the connection can be used again. Never rejects. */
export async function readLastBytes(chunks: AsyncIterator<Buffer>, body: Destroyable): Promise<void> {
  const patience = setTimeout(() => body.destroy(), LAST_BYTES_MILLISECONDS_MAX).unref()
  try {
    while (!(await chunks.next()).done) {
      // Nothing after `[DONE]` counts.
    }
  } catch {
    body.destroy()
  }
  clearTimeout(patience)
}

/** A reply whose end was not read. */
export type CutReply = Pick<UpstreamReply, 'channel' | 'upstreamRequestId' | 'fault'>

/**
 * Logs and counts a success that the gateway's own bound cut short: the client did not get what the upstream charges for.
 * To be called once for each such reply, whatever is billed for it.
 * @param bound the bound that cut it, for the log.
 */
export function reportCutReply(reply: CutReply, bound: 'bytes' | 'event bytes' | 'seconds'): void {
  const { channel, upstreamRequestId } = reply
  reply.fault ??= bound === 'seconds' ? 'timeout' : 'too_large'
  logger.error('reply cut short', { channelId: channel.id, upstreamRequestId, bound })
  count('reply_cut_short', { channel: channel.id })
}

/** What is known of a success that is too large to be held whole. */
export type LargeReply = {
  /** The value of its `usage`, unchecked. */
  readonly usage: unknown
  /** Objects in the list that was asked for, as far as the reply was read. */
  readonly entries: number
  /** Bytes that arrived. */
  readonly bytes: number
  /** `cut`: by the gateway's own bound, so that the client got nothing of it. The others as for a stream. */
  readonly end: 'whole' | 'broken' | 'abandoned' | 'cut'
}

/** The part of a reply that is held, and the part that has not arrived. */
export type Unfinished = { readonly held: Buffer[]; readonly rest: AsyncIterator<Buffer> }

/** The gateway's own bound cut a success. The upstream has done its work and bills it, and would reply the same again. */
export class ReplyTooLargeError extends UpstreamFailedError {
  constructor() {
    super({ cause: new RangeError('the reply is larger than what is held') })
  }
}

type Passage = { readonly form: StreamedJsonForm; readonly status: number; readonly response: ClientResponse }

/**
 * Relays a reply while it arrives, at the pace of the client, and ends the response. A reply that breaks off leaves the
 * client with incomplete JSON, which no client takes for the whole.
 */
export async function passOn(unfinished: Unfinished, { form, status, response }: Passage): Promise<LargeReply> {
  response.open({ statusCode: status, headers: { 'content-type': 'application/json' } })
  const { isBroken, ...read } = await readThrough(unfinished, form, async (pieces) => {
    for (const piece of pieces) {
      await sendPiece(response, piece)
    }
  })
  response.end()
  return { ...read, end: isBroken ? (response.gone.aborted ? 'abandoned' : 'broken') : 'whole' }
}

/**
 * Reads the rest of a reply for its bill, for {@link ABANDONED_MILLISECONDS_MAX} at most, and holds none of it.
 * @param deadline when the client must have its response, as a time of `performance.now()`.
 */
export async function cutReply(
  reply: CutReply & Pick<UpstreamReply, 'failed'> & { readonly body: { destroy(): void } },
  unfinished: Unfinished,
  {
    form,
    deadline = Number.POSITIVE_INFINITY,
  }: { readonly form: StreamedJsonForm; readonly deadline?: number | undefined },
): Promise<LargeReply> {
  const left = Math.max(0, Math.min(ABANDONED_MILLISECONDS_MAX, deadline - performance.now()))
  const patience = setTimeout(() => reply.body.destroy(), left)
  const { isBroken: _, ...read } = await readThrough(unfinished, form, async () => undefined)
  clearTimeout(patience)
  reportCutReply(reply, 'bytes')
  if (read.entries === 0) {
    reply.failed('too_large')
  }
  return { ...read, end: 'cut' }
}

/** What is read of a reply at a time: less than a millisecond of work. */
const STEP_BYTES = 64 * 1024

/**
 * Reads bytes of a reply in small steps. The steps of a large reply are turns of the event loop that no other large reply gets.
 * @param size bytes that have arrived of the reply.
 */
export async function inSteps(chunk: Buffer, size: number, read: (step: Buffer) => unknown): Promise<void> {
  for (let at = 0; at < chunk.length; at += STEP_BYTES) {
    if (size > STEP_BYTES) {
      await nextTurn()
    }
    const isWhole = at === 0 && chunk.length <= STEP_BYTES
    await read(isWhole ? chunk : chunk.subarray(at, at + STEP_BYTES))
  }
}

type ReadThrough = Omit<LargeReply, 'end'> & { readonly isBroken: boolean }

async function readThrough(
  { held, rest }: Unfinished,
  form: StreamedJsonForm,
  send: (pieces: readonly Uint8Array[]) => Promise<void>,
): Promise<ReadThrough> {
  const reply = new StreamedJsonReply(form)
  let bytes = 0
  const take = async (chunk: Buffer) => {
    bytes += chunk.length
    await inSteps(chunk, bytes, async (step) => await send(reply.push(step)))
  }
  try {
    for (let chunk = held.shift(); chunk !== undefined; chunk = held.shift()) {
      await take(chunk)
    }
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      await take(next.value)
    }
  } catch (error) {
    if (!(error instanceof ResponseBrokenError)) {
      throw error
    }
  }
  return { usage: reply.usage, entries: reply.entries, bytes, isBroken: !reply.isComplete }
}

/** The largest reply that is held whole: 2,048 vectors of 3,072 numbers with all their digits come to 133 MB. */
const REPLY_BYTES_MAX = 160 * 1024 * 1024

/** The largest error of an upstream that is relayed; no real one comes near. */
const REFUSAL_BYTES_MAX = 1024 * 1024

type ReadableReply = Pick<UpstreamReply, 'failed' | 'fault'> & {
  readonly body: AsyncIterable<Buffer> & { readonly isOver: boolean; destroy(): void }
}

/** Gets the bytes of a reply in their order. */
type Reader = { push(bytes: Buffer): unknown }

/** How much of a reply is held, and how long the gateway waits for the whole. */
export type Bounds = {
  readonly bytesMax?: number | undefined
  /** When the reply must be whole, as a time of `performance.now()`; undefined where the client gets bytes meanwhile. */
  readonly deadline?: number | undefined
  /** Fires when the client leaves. The deadline then no longer counts, and another bound ends the reply. */
  readonly gone?: AbortNotice
}

/**
 * Reads a reply in small steps while it arrives.
 * @returns its length, or the part that is held of a larger one. @throws as {@link readReply}
 */
async function readUpTo(reply: ReadableReply, bounds: Bounds, reader: Reader): Promise<number | Unfinished> {
  const { body } = reply
  const { bytesMax = REPLY_BYTES_MAX, deadline, gone } = bounds
  let isLate = false
  const late = () => {
    if (gone?.aborted !== true) {
      isLate = true
      body.destroy()
    }
  }
  const isTimed = deadline !== undefined && !body.isOver
  const timer = isTimed ? setTimeout(late, Math.max(0, deadline - performance.now())) : undefined
  const rest = body[Symbol.asyncIterator]()
  const held: Buffer[] = []
  let size = 0
  try {
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      size += next.value.length
      held.push(next.value)
      if (size > bytesMax) {
        return { held, rest }
      }
      await inSteps(next.value, size, (step) => reader.push(step))
    }
  } catch (error) {
    body.destroy()
    if (isLate) {
      reply.failed('timeout')
      throw new UpstreamTimeoutError({ cause: error })
    }
    throw new UpstreamFailedError({ cause: error })
  } finally {
    clearTimeout(timer)
  }
  return size
}

/**
 * Reads a whole reply.
 * @throws UpstreamFailedError when the reply breaks off or is larger than its bound; UpstreamTimeoutError when it is not
 *   whole in time.
 */
export async function readReply(reply: ReadableReply, bounds: Bounds): Promise<Buffer> {
  const held: Buffer[] = []
  const read = await readUpTo(reply, bounds, held)
  if (typeof read === 'number') {
    return Buffer.concat(held)
  }
  reply.body.destroy()
  reply.fault ??= 'too_large'
  throw new UpstreamFailedError({ cause: new RangeError('the reply is larger than any of its kind') })
}

/**
 * Reads a success, for which the upstream charges, or the part of a larger one that is held. A success that the deadline cuts is
 * logged and counted.
 * @throws as {@link readReply}
 */
export async function readSuccessUpTo(
  reply: ReadableReply & CutReply & Pick<UpstreamReply, 'contentType'>,
  bounds: Bounds,
  reader: Reader,
): Promise<number | Unfinished> {
  try {
    const read = await readUpTo(reply, bounds, reader)
    if (typeof read === 'number' || beginsAsObject(read.held)) {
      return read
    }
  } catch (error) {
    if (error instanceof UpstreamTimeoutError) {
      reportCutReply(reply, 'seconds')
    }
    throw error
  }
  reply.body.destroy()
  return refuseReply(reply, 'the reply is no JSON object')
}

/** White space, and a byte order mark, may be before it. */
const BEFORE_JSON: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

function beginsAsObject(chunks: readonly Uint8Array[]): boolean {
  const first = chunks.map((chunk) => chunk.find((byte) => !BEFORE_JSON.has(byte))).find((byte) => byte !== undefined)
  return first === OPEN_BRACE
}

/** Blames the channel for a success that does not have the form of this API. @throws UpstreamFailedError always */
export function refuseReply(reply: Pick<UpstreamReply, 'failed' | 'contentType'>, reason: string): never {
  reply.failed(/json/i.test(reply.contentType ?? 'json') ? 'odd_body' : 'not_json')
  throw new UpstreamFailedError({ cause: new TypeError(reason) })
}

type RefusalReading = {
  readonly deadline: number
  /** What no client sees of a reply, and the id by which clients know the model. */
  readonly rules: Pick<ReplyRules, 'hidden' | 'publicModel'>
  readonly errors: ErrorForm
  /** Writes an error in the words of the client's API; undefined where the upstream has the same API. */
  readonly translate?: ((refusal: JsonObject) => object | undefined) | undefined
}

/** Stands for a refusal that does not say anything in the fields of an error. */
const REFUSED: ErrorFacts = {
  statusCode: 400,
  message: 'the upstream refused the request without a message for clients',
  type: 'invalid_request_error',
  param: null,
  code: null,
}

/** Whether a text is an error in JSON: an object that says something, or a list of such objects. Its `error` is a string or an object. */
function isError(text: string): boolean {
  try {
    const json = parseJsonText(text.replace(/^\ufeff/, ''))
    const errors: readonly unknown[] = Array.isArray(json) ? json : [json]
    return errors.length > 0 && errors.every(saysSomething)
  } catch {
    return false
  }
}

function saysSomething(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    return false
  }
  return !('error' in value && Array.isArray(value.error))
}

/** The error for a model that the upstream does not know, where it says so without the code that clients of any upstream can match on. */
function unknownModel(
  refusal: JsonObject,
  { status }: Pick<UpstreamReply, 'status'>,
  { publicModel }: Pick<ReplyRules, 'publicModel'>,
): ErrorFacts | undefined {
  const { kind } = new ModelNotFoundError(publicModel)
  const { code, message } = readUpstreamError(refusal)
  const isUnknown = status === 404 && code !== kind.code && message?.includes(publicModel) === true
  return isUnknown ? { statusCode: status, message, ...kind } : undefined
}

/**
 * Reads what an upstream says against a request, without the keys that the upstream was called with. An `error` passes, of which only
 * what is for clients, or the fields of an error alone. Anything that is no such JSON, such as the page of a proxy, may name the
 * upstream: an error of ours takes its place.
 * @throws as {@link readReply}
 */
export async function readRefusal(
  reply: UpstreamReply,
  { deadline, rules, errors, translate }: RefusalReading,
): Promise<Buffer> {
  const bytes = (await readReply(reply, { bytesMax: REFUSAL_BYTES_MAX, deadline })).toString('latin1')
  const shown = withoutHidden(reply.withoutCredentials(bytes), hiddenInRefusal(rules.hidden))
  const refusal = Buffer.from(shown, 'latin1')
  if (!isError(refusal.toString())) {
    return Buffer.from(JSON.stringify(errors.body({ ...REFUSED, statusCode: reply.status })))
  }
  const json = parseJsonObject(refusal.toString())
  const unknown = json && unknownModel(json, reply, rules)
  const translated = unknown === undefined ? json && translate?.(json) : errors.body(unknown)
  return translated === undefined ? refusal : Buffer.from(JSON.stringify(translated))
}
