import { UpstreamFailedError } from '#core/errors.ts'
import { type PassingForm, PassingReply } from '#core/relay/passing-reply.ts'
import { nextTurn } from '#platform/concurrency.ts'
import { ResponseBrokenError } from '#platform/http/response-body.ts'
import type { ClientResponse } from './client-response.ts'
import { ABANDONED_MILLISECONDS_MAX, type CutReply, reportCutReply } from './leave-reply.ts'
import { sendPiece } from './send-response.ts'
import type { UpstreamReply } from './upstream-reply.ts'

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

type Passage = { readonly form: PassingForm; readonly status: number; readonly response: ClientResponse }

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
  { form, deadline = Number.POSITIVE_INFINITY }: { readonly form: PassingForm; readonly deadline?: number | undefined },
): Promise<LargeReply> {
  const left = Math.max(0, Math.min(ABANDONED_MILLISECONDS_MAX, deadline - performance.now()))
  const patience = setTimeout(() => reply.body.destroy(), left)
  const { isBroken: _, ...read } = await readThrough(unfinished, form, async () => undefined)
  clearTimeout(patience)
  reportCutReply(reply, 'bytes')
  if (read.entries === 0) {
    reply.failed()
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
  form: PassingForm,
  send: (pieces: readonly Uint8Array[]) => Promise<void>,
): Promise<ReadThrough> {
  const passing = new PassingReply(form)
  let bytes = 0
  const take = async (chunk: Buffer) => {
    bytes += chunk.length
    await inSteps(chunk, bytes, async (step) => await send(passing.push(step)))
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
  return { usage: passing.usage, entries: passing.entries, bytes, isBroken: !passing.isComplete }
}
