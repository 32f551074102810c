import { countMessageTokens } from '../../relay/protocols/count-message-tokens.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/messages/count_tokens */
export const { handler, streamHandler } = relayHandlers(countMessageTokens)
