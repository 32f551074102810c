import { chat } from '../../relay/protocols/chat.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/chat/completions */
export const { handler, streamHandler } = relayHandlers(chat)
