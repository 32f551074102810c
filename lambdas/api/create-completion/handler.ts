import { relayHandlers } from '../../relay/relay-handler.ts'
import { createCompletion } from './create-completion.ts'

/** POST /v1/completions */
export const { handler, streamHandler } = relayHandlers('create-completion', createCompletion)
