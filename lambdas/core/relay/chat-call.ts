import type { ChatRequest } from '../contract/chat-request.ts'
import { replaceMembers } from '../json-members.ts'
import { keepPassingFields, type PassedBody } from './keep-passing-fields.ts'
import type { PassingFields } from './passing-fields.ts'
import { askForUsage } from './stream-options.ts'

type ChatCall = {
  readonly upstreamModel: string
  readonly chat: Pick<ChatRequest, 'stream' | 'streamOptions'>
  /** What the channel lets pass. */
  readonly passing: PassingFields
}

/**
 * The body for an upstream: what passes of the client's own, with the upstream's model id in it and, in a stream, the wish
 * for the usage. Every other byte stays.
 */
export function upstreamChatBody(bodyText: string, { upstreamModel, chat, passing }: ChatCall): PassedBody {
  const { text, ignored } = keepPassingFields(bodyText, passing)
  const members = new Map([['model', JSON.stringify(upstreamModel)]])
  if (chat.stream) {
    members.set('stream_options', streamOptions(chat, passing))
  }
  return { text: replaceMembers(text, members), ignored }
}

function streamOptions({ streamOptions: own }: ChatCall['chat'], { fields }: PassingFields): string {
  const passing = fields.get('stream_options')
  const json = JSON.stringify(own)
  return askForUsage(passing === undefined || passing === 'whole' ? json : keepPassingFields(json, passing).text)
}
