import { responses } from '../../relay/protocols/responses.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/responses */
export const { handler, streamHandler } = relayHandlers(responses)
