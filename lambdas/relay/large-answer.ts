import { UpstreamBrokenError } from '#adapters/http/upstream-body.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import { PassingAnswer, type PassingForm } from '#core/relay/passing-answer.ts'
import { ABANDONED_MILLISECONDS_MAX } from './bound-when-gone.ts'
import type { UpstreamReply } from './call-upstream.ts'
import type { AnswerWriter } from './relay-request.ts'
import { type CutReply, reportCutAnswer } from './report-cut-answer.ts'

/** What is known of a success that was larger than what is held whole. */
export type LargeAnswer = {
  /** The value of its `usage`, which nobody has checked. */
  readonly usage: unknown
  /** Objects in the list that was asked for, as far as it was read. */
  readonly entries: number
  /** Bytes that have come. */
  readonly bytes: number
  /** `cut`: by our own bound, so that the client got nothing of it. The others as of a stream. */
  readonly end: 'whole' | 'broken' | 'abandoned' | 'cut'
}

/** What was held of an answer, and what is still to come. */
export type Unfinished = { readonly held: Buffer[]; readonly rest: AsyncIterator<Buffer> }

/** A success was cut by our own bound. Its upstream has done its work and bills it, and would do the same again. */
export class AnswerTooLargeError extends UpstreamFailedError {
  readonly answer: LargeAnswer
  constructor(answer: LargeAnswer) {
    super({ cause: new RangeError('the answer is larger than what is held whole') })
    this.answer = answer
  }
}

type Passage = { readonly form: PassingForm; readonly status: number; readonly answer: AnswerWriter }

/**
 * Sends an answer on as it comes, at the pace of its client, and ends it. One that breaks off ends inside of its JSON, which
 * no client takes for whole.
 */
export async function passOn(unfinished: Unfinished, { form, status, answer }: Passage): Promise<LargeAnswer> {
  answer.open({ statusCode: status, headers: { 'content-type': 'application/json' } })
  const { isBroken, ...read } = await readThrough(unfinished, form, async (pieces) => {
    for (const piece of pieces) {
      if (!answer.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))) {
        await answer.drained()
      }
    }
  })
  answer.end()
  return { ...read, end: isBroken ? (answer.gone.aborted ? 'abandoned' : 'broken') : 'whole' }
}

/**
 * Reads on for what there is to bill, for half a minute at most, and holds nothing of it.
 * @param deadline as a time of `performance.now()`, before which the client is to hear of it.
 */
export async function cutAnswer(
  reply: CutReply & Pick<UpstreamReply, 'failed'> & { readonly body: { destroy(): void } },
  unfinished: Unfinished,
  { form, deadline = Number.POSITIVE_INFINITY }: { readonly form: PassingForm; readonly deadline?: number | undefined },
): Promise<AnswerTooLargeError> {
  const left = Math.max(0, Math.min(ABANDONED_MILLISECONDS_MAX, deadline - performance.now()))
  const patience = setTimeout(() => reply.body.destroy(), left)
  const { isBroken: _, ...read } = await readThrough(unfinished, form, async () => undefined)
  clearTimeout(patience)
  reportCutAnswer(reply, 'bytes')
  if (read.entries === 0) {
    reply.failed()
  }
  return new AnswerTooLargeError({ ...read, end: 'cut' })
}

type ReadThrough = Omit<LargeAnswer, 'end'> & { readonly isBroken: boolean }

async function readThrough(
  { held, rest }: Unfinished,
  form: PassingForm,
  send: (pieces: readonly Uint8Array[]) => Promise<void>,
): Promise<ReadThrough> {
  const passing = new PassingAnswer(form)
  let bytes = 0
  const take = async (chunk: Buffer) => {
    bytes += chunk.length
    await send(passing.push(chunk))
  }
  try {
    for (let chunk = held.shift(); chunk !== undefined; chunk = held.shift()) {
      await take(chunk)
      // What is held are many megabytes: other requests of this process have their turn in between.
      await new Promise(setImmediate)
    }
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      await take(next.value)
    }
  } catch (error) {
    if (!(error instanceof UpstreamBrokenError)) {
      throw error
    }
  }
  return { usage: passing.usage, entries: passing.entries, bytes, isBroken: !passing.isComplete }
}
