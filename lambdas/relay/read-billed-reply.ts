import type { PassingForm } from '#core/relay/passing-reply.ts'
import type { Bill } from './bill-request.ts'
import { type ClientResponse, hasLeft } from './client-response.ts'
import { cutReply, type LargeReply, passOn, type Unfinished } from './large-reply.ts'
import { boundWhenGone } from './leave-reply.ts'
import { type Bounds, readSuccessUpTo } from './read-reply.ts'
import type { UpstreamReply } from './upstream-reply.ts'

type Reading = Omit<Bounds, 'gone'> & {
  readonly response: ClientResponse
  readonly bill: Bill
  readonly form: PassingForm
  /** Whether a reply may be relayed as it is, but for its model. */
  readonly passes: boolean
  /** Bills a reply that is too large to be held. */
  readonly settleLarge: (large: LargeReply) => void
}

/**
 * Reads a success for a client that may leave meanwhile: the reply is then read on for a bounded time, and billed at the
 * estimate when it is not whole by then. A reply that is too large to be held is relayed while it arrives.
 * @returns undefined when the reply was relayed and billed.
 * @throws as `readSuccess`; a reply that was cut is billed by then.
 */
export async function readBilledReply(reply: UpstreamReply, reading: Reading): Promise<Buffer | undefined> {
  const { response, bill, bytesMax, deadline } = reading
  const { gone } = response
  const stopWaiting = boundWhenGone(reply.body, response)
  try {
    const whole = await readSuccessUpTo(reply, { bytesMax, deadline, gone }).catch((error: unknown) => {
      if (hasLeft(response)) {
        bill.settleByEstimate(bill.estimate)
      }
      throw error
    })
    if (Buffer.isBuffer(whole)) {
      return whole
    }
    await sendLarge(reply, whole, reading)
    return undefined
  } finally {
    stopWaiting()
  }
}

async function sendLarge(reply: UpstreamReply, unfinished: Unfinished, reading: Reading): Promise<void> {
  const { response, form, deadline, settleLarge } = reading
  if (!reading.passes || response.isBuffered === true) {
    const cut = await cutReply(reply, unfinished, { form, deadline })
    if (cut.reply.entries > 0) {
      settleLarge(cut.reply)
    }
    throw cut
  }
  const passed = await passOn(unfinished, { form, status: reply.status, response })
  if (passed.entries > 0 || passed.end === 'abandoned') {
    settleLarge(passed)
  }
  if (passed.entries === 0 || passed.end === 'broken') {
    reply.failed()
  }
}
