import { completion } from '../../relay/protocols/completion.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/completions */
export const { handler, streamHandler } = relayHandlers(completion)
