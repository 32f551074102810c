import { ResponseBrokenError } from '#adapters/http/response-broken-error.ts'
import type { ChatStream } from '#core/relay/chat-stream.ts'
import { EndlessEventError } from '#core/relay/sse-events.ts'
import { type ClientResponse, hasLeft } from './client-response.ts'
import { EventSender, UPSTREAM_BROKE_OFF } from './event-sender.ts'
import { boundWhenGone, type CutReply, readLastBytes, reportCutReply } from './leave-reply.ts'
import type { UpstreamReply } from './upstream-reply.ts'

/** The upstream failed before anything of its reply reached the client: another channel may still take the request. */
export class NothingRelayedError extends Error {
  override readonly name = 'NothingRelayedError'
}

/** How a stream ended for its client: whole, broken off by the upstream, cut by the gateway's own bound, or left early. */
export type StreamEnd = 'whole' | 'broken' | 'cut' | 'abandoned'

/** The part of a {@link ChatStream} that relaying takes: bytes in, bytes out, and how far the stream has come. */
export type EventStream = Pick<
  ChatStream,
  'push' | 'end' | 'state' | 'hasBegun' | 'hasGenerated' | 'hasChoices' | 'usage' | 'relayedTextBytes'
>

type RelayedReply = Pick<UpstreamReply, 'body' | 'completed' | 'failed'> & CutReply

/**
 * Relays a chat stream as {@link relayEvents} does, and ends the response. Sends a comment after each quarter of a minute of
 * silence. A stream that is cut before its first byte leaves the response unopened.
 * @throws NothingRelayedError as {@link relayEvents}.
 */
export async function relayStream(
  reply: RelayedReply,
  stream: EventStream,
  response: ClientResponse,
): Promise<StreamEnd> {
  const sender = new EventSender(response)
  sender.keepAlive()
  try {
    const end = await relayEvents(reply, stream, { sender, response })
    if (response.isOpen || end !== 'cut') {
      sender.end()
    }
    return end
  } finally {
    sender.stop()
  }
}

/** Whose stream it is, and whether that client is bound to this upstream. */
export type StreamClient = {
  readonly sender: EventSender
  readonly response: Pick<ClientResponse, 'isOpen' | 'gone' | 'ending'>
}

/**
 * Relays a chat stream event by event, and leaves the response open for more. Holds everything back until something was
 * generated, so that a failure before that can go to another channel. When the client leaves, reads on for a bounded time, so
 * that the usage can be billed.
 * @throws NothingRelayedError when the upstream breaks off, ends, or reports an error before the first byte was relayed.
 */
export async function relayEvents(
  reply: RelayedReply,
  stream: EventStream,
  streamClient: StreamClient,
): Promise<StreamEnd> {
  const stopWaiting = boundWhenGone(reply.body, streamClient.response)
  const client = { ...streamClient, held: '' }
  try {
    return finish(await pump(reply, stream, client), stream, client)
  } catch (error) {
    reply.failed()
    throw error
  } finally {
    stopWaiting()
  }
}

type Client = StreamClient & {
  /** Roles that came before anything was generated. They do not bind the client to this upstream. */
  held: string
}

/** More than this is not held back: an upstream may send roles without end. */
const HELD_BYTES_MAX = 64 * 1024

/** @returns how the reading ended: at the end of the stream, or before it. */
async function pump(
  reply: Pick<UpstreamReply, 'body' | 'completed'> & CutReply,
  stream: EventStream,
  client: Client,
): Promise<'over' | 'broken' | 'cut'> {
  const { body, completed } = reply
  const { sender, response } = client
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      const bytes = next.value.toString('latin1')
      const due = client.held + stream.push(bytes)
      refuseBeforeTheFirstByte(stream, response)
      const isHeld = !(stream.hasBegun || response.isOpen) && due.length <= HELD_BYTES_MAX
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
    if (!isBound(stream, response)) {
      throw new NothingRelayedError('the upstream broke off before its first byte', { cause: error })
    }
    return 'broken'
  }
}

/**
 * Whether the request must not go to another upstream. A client that has left gets no second one, and owes its prompt where
 * this upstream was at work on it.
 */
function isBound(stream: EventStream, response: StreamClient['response']): boolean {
  return response.isOpen || stream.hasBegun || (hasLeft(response) && stream.hasChoices)
}

/** An upstream may reply 200 and report a failure before anything was generated. The client then gets a status. */
function refuseBeforeTheFirstByte(stream: EventStream, response: StreamClient['response']): void {
  if (stream.state === 'failed' && !response.isOpen && !stream.hasGenerated) {
    throw new NothingRelayedError('the upstream reported an error before its first byte')
  }
}

function finish(read: 'over' | 'broken' | 'cut', stream: EventStream, { sender, response, held }: Client): StreamEnd {
  if (read === 'cut') {
    if (response.isOpen) {
      sender.write(`data: ${UPSTREAM_BROKE_OFF}\n\n`)
    }
    return 'cut'
  }
  // No client can read half an event, whether the connection broke or closed in order.
  const rest = read === 'broken' ? undefined : stream.end()
  refuseBeforeTheFirstByte(stream, response)
  if (!isBound(stream, response)) {
    throw new NothingRelayedError('the upstream ended before its first byte')
  }
  // The usage comes last, so nothing is missing after it.
  const isAtEnd = rest !== undefined && (stream.state === 'finished' || stream.usage !== undefined)
  const isWhole = stream.hasBegun && (stream.state === 'done' || isAtEnd)
  const due = held + (rest ?? '')
  if (due !== '') {
    sender.write(Buffer.from(due, 'latin1'))
  }
  if (stream.state === 'failed') {
    return 'broken'
  }
  const separator = rest === undefined || rest === '' ? '' : '\n\n'
  if (!isWhole) {
    sender.write(`${separator}data: ${UPSTREAM_BROKE_OFF}\n\n`)
  }
  return isWhole ? 'whole' : response.gone.aborted ? 'abandoned' : 'broken'
}
