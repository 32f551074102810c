import { type ChatChoice, chatOutcome } from './openai-chat-choices.ts'
import { chatEvents } from './openai-chat-events.ts'
import { type ChatRequest, lastUserMessage, parseChatBody, textOf } from './openai-chat-request.ts'
import type { OpenAiEndpoint } from './openai-endpoint.ts'
import { newId } from './openai-id.ts'
import { usageOf } from './openai-usage.ts'

/** `POST /chat/completions`. */
export const chatEndpoint: OpenAiEndpoint<ChatRequest> = {
  parse: parseChatBody,
  promptOf: (request) => {
    const message = lastUserMessage(request)
    return message === undefined ? '' : textOf(message)
  },
  answer: (request, context) => {
    const outcome = chatOutcome(request, context)
    const head = {
      id: newId('chatcmpl-'),
      created: Math.floor(context.nowMilliseconds / 1000),
      model: request.model,
    }
    if (request.stream === true) {
      const isUsageAsked = request.stream_options?.include_usage === true
      return { kind: 'events', events: chatEvents({ head, outcome, isUsageAsked, magic: context.magic }) }
    }
    const completion = outcome.choices.reduce((sum, { tokens }) => sum + tokens, 0)
    const body = {
      id: head.id,
      object: 'chat.completion',
      created: head.created,
      model: head.model,
      choices: outcome.choices.map(choiceOf),
      usage: usageOf({ prompt: outcome.promptTokens, completion }, context.magic),
      system_fingerprint: 'fp_simulator',
    }
    return { kind: 'json', body }
  },
}

function choiceOf({ index, content, toolCall, finishReason }: ChatChoice) {
  const message =
    toolCall === undefined
      ? { role: 'assistant', content, refusal: null }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: newId('call_'), type: 'function', function: toolCall }],
          refusal: null,
        }
  return { index, message, logprobs: null, finish_reason: finishReason }
}
