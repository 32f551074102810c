import type { ChatRequest } from '../api/chat-request.ts'
import type { RelayChannel } from '../catalogue/channel.ts'
import { changeOutputLimit } from '../catalogue/parameters.ts'
import { replaceFields, withoutFields } from '../json/json-fields.ts'
import { keepPassingFields, type PassedBody, type PassingFields, passingFields } from '../passing-fields.ts'
import { askForUsage } from './stream-options.ts'

/** The settings of a channel that decide about the body that it gets. */
export type ChatChannel = Pick<RelayChannel, 'pass_members' | 'output_limit_member'>

type ChatCall = {
  readonly upstreamModel: string
  readonly chat: Pick<ChatRequest, 'model' | 'stream' | 'streamOptions' | 'askedLimits'>
  readonly channel: ChatChannel
}

/**
 * Writes the body for an upstream: the client's fields that pass, with the upstream's model id, the output limit under the
 * channel's name for it and, for a stream, the request for the usage. Every other byte stays.
 */
export function upstreamChatBody(bodyText: string, { upstreamModel, chat, channel }: ChatCall): PassedBody {
  const passing = passingFields('chat', channel.pass_members.chat)
  const { text, ignored } = keepPassingFields(bodyText, passing)
  const members = new Map([['model', JSON.stringify(upstreamModel)]])
  if (chat.stream) {
    members.set('stream_options', streamOptions(chat, passing))
  }
  const { write, leaveOut } = changeOutputLimit(chat.askedLimits, {
    wanted: channel.output_limit_member,
    fallback: chat.model.default_max_output_tokens,
  })
  if (write !== undefined) {
    members.set(write.name, String(write.tokens))
  }
  const kept = leaveOut === undefined ? text : withoutFields(text, new Set([leaveOut]))
  return { text: replaceFields(kept, members), ignored }
}

function streamOptions({ streamOptions: own }: Pick<ChatRequest, 'streamOptions'>, { fields }: PassingFields): string {
  const passing = fields.get('stream_options')
  const json = JSON.stringify(own)
  return askForUsage(passing === undefined || passing === 'whole' ? json : keepPassingFields(json, passing).text)
}
