import { callUpstream } from '#adapters/relay/call-upstream.ts'
import { relayHandlers } from '#middleware/relay-handler.ts'
import { createCompletion } from './create-completion.ts'

/** POST /v1/completions */
export const { handler, streamHandler } = relayHandlers('create-completion', (request, answer, context) =>
  createCompletion(request, answer, { ...context, callUpstream: (call) => callUpstream(context, call) }),
)
