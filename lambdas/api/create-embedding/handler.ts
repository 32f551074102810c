import { relayHandlers } from '../../relay/relay-handler.ts'
import { createEmbedding } from './create-embedding.ts'

/** POST /v1/embeddings */
export const { handler, streamHandler } = relayHandlers('create-embedding', createEmbedding)
