import { messages } from '../../relay/protocols/messages.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/messages */
export const { handler, streamHandler } = relayHandlers(messages)
