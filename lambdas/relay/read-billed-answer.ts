import type { PassingForm } from '#core/relay/passing-answer.ts'
import type { Bill } from './bill-request.ts'
import { boundWhenGone } from './bound-when-gone.ts'
import type { UpstreamReply } from './call-upstream.ts'
import { cutAnswer, type LargeAnswer, passOn, type Unfinished } from './large-answer.ts'
import { type Bounds, readSuccessUpTo } from './read-answer.ts'
import type { AnswerWriter } from './relay-request.ts'

type Read = Omit<Bounds, 'gone'> & {
  readonly answer: AnswerWriter
  readonly bill: Bill
  readonly form: PassingForm
  /** Whether an answer may go on as it came, but for its model. */
  readonly passes: boolean
  /** Says what an answer comes to that is larger than what is held. */
  readonly settleLarge: (large: LargeAnswer) => void
}

/**
 * A success as bytes, for a client who may leave meanwhile: then it is read on for a bounded time, and what did not come in
 * that time is billed at the estimate. One that is larger than what is held goes on to the client as it comes.
 * @returns undefined when it was sent and billed.
 * @throws as {@link readSuccess}; what was cut is billed then.
 */
export async function readBilledAnswer(reply: UpstreamReply, read: Read): Promise<Buffer | undefined> {
  const { answer, bill, bytesMax, deadline } = read
  const stopWaiting = boundWhenGone(reply.body, answer.gone)
  try {
    const whole = await readSuccessUpTo(reply, { bytesMax, deadline, gone: answer.gone }).catch((error: unknown) => {
      if (answer.gone.aborted) {
        bill.settleByEstimate(bill.locked)
      }
      throw error
    })
    if (Buffer.isBuffer(whole)) {
      return whole
    }
    await sendLarge(reply, whole, read)
    return undefined
  } finally {
    stopWaiting()
  }
}

async function sendLarge(reply: UpstreamReply, unfinished: Unfinished, read: Read): Promise<void> {
  const { answer, form, deadline, settleLarge } = read
  if (!read.passes || answer.isBuffered === true) {
    const cut = await cutAnswer(reply, unfinished, { form, deadline })
    if (cut.answer.entries > 0) {
      settleLarge(cut.answer)
    }
    throw cut
  }
  const passed = await passOn(unfinished, { form, status: reply.status, answer })
  if (passed.entries > 0 || passed.end === 'abandoned') {
    settleLarge(passed)
  }
  if (passed.entries === 0 || passed.end === 'broken') {
    reply.failed()
  }
}
