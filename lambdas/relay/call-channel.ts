import { callUpstream, type UpstreamCall, type UpstreamReply } from './call-upstream.ts'
import type { WriteBody } from './post-to-channel.ts'
import type { RelayContext } from './relay-context.ts'
import type { RelayRequest } from './relay-request.ts'

type ChannelCall = {
  readonly request: RelayRequest
  /** The client has left: nothing more is sent for it. */
  readonly gone: AbortSignal
  readonly modelId: string
  readonly path: string
  readonly failedChannels?: readonly string[]
  readonly deadline: UpstreamCall['deadline']
  readonly body: WriteBody
}

/** Calls an upstream for a client's request, and notes for its log line which one answered. @throws as {@link callUpstream} */
export async function callChannel(
  context: RelayContext,
  { request, gone, ...call }: ChannelCall,
): Promise<UpstreamReply> {
  const { caller, sessionId, requestId } = request
  const reply = await callUpstream(context, {
    ...call,
    tenantId: caller.tenantId,
    sessionId,
    requestId,
    signal: gone,
  })
  request.note({ channelId: reply.channel.id, upstreamRequestId: reply.upstreamRequestId, attempts: reply.attempts })
  return reply
}
