import { parseCompletionRequest } from '#core/api/completion-request.ts'
import type { ChatChannel } from '#lambdas/relay/protocols/chat-stream.ts'
import { prepareCompletionCalls } from '#lambdas/relay/protocols/completion.ts'
import { shippedCatalogue } from '../../core/shipped-catalogue.ts'

export const CHAT_MODEL = 'chat-default'

/** The facts of a request body for the shipped chat model. */
export function completionRequest(members: object) {
  const body = { model: CHAT_MODEL, prompt: 'Once', ...members }
  return parseCompletionRequest(body, { catalogue: shippedCatalogue, allowedModels: null })
}

/** A channel that says nothing of what passes. */
export const PLAIN_CHANNEL: ChatChannel = { pass_members: { chat: [], embeddings: [], images: [] } }

/** The chat call of one prompt, parsed. */
export function chatCall(members: object, { promptIndex = 0, channel = PLAIN_CHANNEL } = {}): unknown {
  const text = JSON.stringify({ model: CHAT_MODEL, prompt: 'Once', ...members })
  const write = prepareCompletionCalls(text, completionRequest(members))
  return JSON.parse(write({ promptIndex, model: 'upstream-chat', channel }).text)
}

export const FALLBACK = { id: 'cmpl-request', created: 1_700_000_000 }
