import type { ChatRequest } from '../contract/chat-request.ts'
import { replaceMembers } from '../json-members.ts'

/**
 * The body for an upstream: the client's own, with the upstream's model id in it and, in a stream, the wish for the usage.
 * Every other byte stays, so that what the gateway does not know reaches the upstream untouched.
 */
export function upstreamChatBody(
  bodyText: string,
  { upstreamModel, chat }: { upstreamModel: string; chat: Pick<ChatRequest, 'stream' | 'streamOptions'> },
): string {
  const members = new Map([['model', JSON.stringify(upstreamModel)]])
  if (chat.stream) {
    members.set('stream_options', JSON.stringify({ ...chat.streamOptions, include_usage: true }))
  }
  return replaceMembers(bodyText, members)
}
