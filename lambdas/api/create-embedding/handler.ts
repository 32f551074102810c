import { embedding } from '../../relay/protocols/embedding.ts'
import { relayHandlers } from '../../relay/relay-handler.ts'

/** POST /v1/embeddings */
export const { handler, streamHandler } = relayHandlers(embedding)
