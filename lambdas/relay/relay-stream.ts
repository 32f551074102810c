import { EndlessEventError } from '#core/relay/sse-events.ts'
import { nextTurn } from '#platform/concurrency.ts'
import { ResponseBrokenError } from '#platform/http/response-body.ts'
import { NothingRelayedError, type ReplyFault, type UpstreamReply } from './call-channel.ts'
import { type ClientResponse, type EventSender, hasLeft } from './client-response.ts'
import { boundWhenGone, type CutReply, readLastBytes, reportCutReply } from './read-reply.ts'
import type { RelayedStream } from './relay-protocol.ts'

/** How a stream ended for its client: whole, broken off by the upstream, cut by the gateway's own bound, or left early. */
export type StreamEnd = 'whole' | 'broken' | 'cut' | 'abandoned'

type RelayedReply = Pick<UpstreamReply, 'body' | 'completed' | 'failed'> & CutReply

/** Whose stream it is. */
export type StreamClient = { readonly sender: EventSender; readonly response: ClientResponse }

/**
 * Relays a stream event by event, and leaves the response open for more. Holds everything back until something was generated, so
 * that a failure before that can go to another channel. When the client leaves, reads on for a bounded time, so that the usage
 * can be billed.
 * @throws NothingRelayedError when the upstream breaks off, ends, or reports an error before the first byte was relayed.
 */
export async function relayEvents(
  reply: RelayedReply,
  stream: RelayedStream<unknown>,
  { sender, response }: StreamClient,
): Promise<StreamEnd> {
  const stopWaiting = boundWhenGone(reply.body, response)
  const client = new Client(sender, response)
  sender.failure = stream.failure?.bind(stream)
  try {
    return finish(await pump(reply, stream, client), stream, client)
  } catch (error) {
    reply.failed(faultOf(stream))
    throw error
  } finally {
    stopWaiting()
  }
}

/** What is wrong with a stream that is not whole, unless its end has told. */
export function faultOf({ state }: Pick<RelayedStream<unknown>, 'state'>): ReplyFault {
  return state === 'failed' ? 'reported_error' : 'no_end'
}

/** The client of one stream, whose response may have begun with earlier ones. */
class Client {
  readonly sender: EventSender
  readonly response: ClientResponse
  /** Roles that came before anything was generated. They do not bind the client to this upstream. */
  held = ''
  readonly #wasOpen: boolean

  constructor(sender: EventSender, response: ClientResponse) {
    this.sender = sender
    this.response = response
    this.#wasOpen = response.isOpen
  }

  /** Whether the client has got anything, if only a comment, since this stream began. */
  get hasBytes(): boolean {
    return this.response.isOpen && !this.#wasOpen
  }
}

/** More than this is not held back: an upstream may send roles without end. */
const HELD_BYTES_MAX = 64 * 1024

/** @returns how the reading ended: at the end of the stream, or before it. */
async function pump(
  reply: Pick<UpstreamReply, 'body' | 'completed'> & CutReply,
  stream: RelayedStream<unknown>,
  client: Client,
): Promise<'over' | 'broken' | 'cut'> {
  const { body, completed } = reply
  const { sender } = client
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      const bytes = next.value.toString('latin1')
      const pushed = stream.push(bytes)
      const due = client.held + (typeof pushed === 'string' ? pushed : await inTurns(pushed))
      refuseBeforeTheFirstByte(stream, client)
      const isHeld = !(stream.hasBegun || client.hasBytes) && due.length <= (stream.heldBytesMax ?? HELD_BYTES_MAX)
      client.held = isHeld ? due : ''
      if (due !== '' && !isHeld && !sender.write(due === bytes ? next.value : Buffer.from(due, 'latin1'))) {
        await sender.drained()
      }
      if (stream.state === 'done' || stream.state === 'failed') {
        if (stream.state === 'done' && stream.hasBegun) {
          completed()
        }
        void readLastBytes(chunks, body)
        return 'over'
      }
    }
    return 'over'
  } catch (error) {
    body.destroy()
    if (!(error instanceof ResponseBrokenError || error instanceof EndlessEventError)) {
      throw error
    }
    if (error instanceof EndlessEventError && error.hasData) {
      reportCutReply(reply, 'event bytes')
      return 'cut'
    }
    if (error instanceof EndlessEventError) {
      reply.fault ??= 'too_large'
    }
    if (!isBound(stream, client)) {
      throw new NothingRelayedError('the upstream broke off before its first byte', { cause: error })
    }
    return 'broken'
  }
}

/** Takes the steps of a large event, each in a turn of the event loop of its own. */
async function inTurns(steps: Generator<undefined, string>): Promise<string> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      return step.value
    }
    await nextTurn()
  }
}

/**
 * Whether the request must not go to another upstream. A client that has left gets no second one, and owes its prompt where
 * this upstream was at work on it.
 */
function isBound(stream: RelayedStream<unknown>, { hasBytes, response }: Client): boolean {
  return hasBytes || stream.hasBegun || (hasLeft(response) && stream.isAtWork)
}

/** An upstream may reply 200 and report a failure before anything was generated. The client then gets a status. */
function refuseBeforeTheFirstByte(stream: RelayedStream<unknown>, { hasBytes }: Client): void {
  if (stream.state === 'failed' && !hasBytes && !stream.hasGenerated) {
    throw new NothingRelayedError('the upstream reported an error before its first byte')
  }
}

/** What the end of the reply completes; undefined where its last event is endless, so that the stream is broken. */
function lastEvents(stream: RelayedStream<unknown>): string | undefined {
  try {
    return stream.end()
  } catch (error) {
    if (error instanceof EndlessEventError) {
      return undefined
    }
    throw error
  }
}

function finish(read: 'over' | 'broken' | 'cut', stream: RelayedStream<unknown>, client: Client): StreamEnd {
  const { sender, response, held } = client
  if (read === 'cut') {
    if (response.isOpen) {
      sender.write(sender.brokeOff)
    }
    return 'cut'
  }
  // No client can read half an event, whether the connection broke or closed in order.
  const rest = read === 'broken' ? undefined : lastEvents(stream)
  refuseBeforeTheFirstByte(stream, client)
  if (!isBound(stream, client)) {
    throw new NothingRelayedError('the upstream ended before its first byte')
  }
  const isWhole = stream.hasBegun && (stream.state === 'done' || (rest !== undefined && stream.state === 'finished'))
  const due = held + (rest ?? '')
  if (due !== '') {
    sender.write(Buffer.from(due, 'latin1'))
  }
  if (stream.state === 'failed') {
    return 'broken'
  }
  if (!isWhole) {
    const separator = rest === undefined || rest === '' ? '' : '\n\n'
    sender.write(separator + sender.brokeOff)
  }
  return isWhole ? 'whole' : response.gone.aborted ? 'abandoned' : 'broken'
}
