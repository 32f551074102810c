import { relayHandlers } from '../../relay/relay-handler.ts'
import { createChatCompletion } from './create-chat-completion.ts'

/** POST /v1/chat/completions */
export const { handler, streamHandler } = relayHandlers('create-chat-completion', createChatCompletion)
