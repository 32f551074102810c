import { type ChatRequest, imagesOf, lastUserMessage, promptTokens, textOf } from './openai-chat-request.ts'
import type { OpenAiContext } from './openai-endpoint.ts'
import type { OpenAiMagic } from './openai-magic-prompt.ts'
import { longReply, replyTo, replyToTool } from './openai-reply.ts'
import { sampleValue } from './openai-sample-value.ts'
import { countTokens, limitText } from './openai-tokens.ts'

/** One completion, before its serialization as JSON or as a stream. */
export type ChatChoice = {
  readonly index: number
  readonly content: string
  /** Instead of the content. */
  readonly toolCall?: { readonly name: string; readonly arguments: string }
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  readonly tokens: number
}

/** The content of a chat response in either form. */
export type ChatOutcome = { readonly choices: readonly ChatChoice[]; readonly promptTokens: number }

/** The completions of a request: `n` of them, or one fewer (but one at least) for `[fewer]`. */
export function chatOutcome(request: ChatRequest, { magic, limits }: OpenAiContext): ChatOutcome {
  const asked = request.n ?? 1
  const count = magic.flags.has('fewer') ? Math.max(1, asked - 1) : asked
  const tokensMax = request.max_completion_tokens ?? request.max_tokens ?? limits.outputTokensMax
  const toolCall = toolCallOf(request, magic)
  const choices = Array.from({ length: count }, (_, index): ChatChoice => {
    if (magic.flags.has('filtered')) {
      return { index, content: '', finishReason: 'content_filter', tokens: 0 }
    }
    if (toolCall !== undefined) {
      const tokens = countTokens(toolCall.name) + countTokens(toolCall.arguments)
      return { index, content: '', toolCall, finishReason: 'tool_calls', tokens }
    }
    if (magic.bytesMin > 0) {
      const content = 'x'.repeat(magic.bytesMin)
      return { index, content, finishReason: 'stop', tokens: countTokens(content) }
    }
    const reply = chatReply(request, magic, index)
    const { text, finishReason } = limitText(reply, { stops: [request.stop ?? []].flat(), tokensMax })
    return { index, content: text, finishReason, tokens: countTokens(text) }
  })
  return { choices, promptTokens: promptTokens(request) }
}

function chatReply(request: ChatRequest, magic: OpenAiMagic, choice: number): string {
  if (magic.words !== undefined) {
    return longReply(magic.words)
  }
  const last = request.messages.at(-1)
  const user = lastUserMessage(request)
  const reply =
    last?.role === 'tool' || last?.role === 'function'
      ? replyToTool(textOf(last))
      : replyTo({ prose: magic.prose, images: user === undefined ? 0 : imagesOf(user), choice })
  switch (request.response_format?.type) {
    case 'json_object':
      return JSON.stringify({ reply, you_said: magic.prose })
    case 'json_schema':
      return JSON.stringify(sampleValue(request.response_format.json_schema?.schema, magic.prose))
    default:
      return reply
  }
}

/** Calls a tool after every message of the user: the chosen one, else the first. */
function toolCallOf(request: ChatRequest, magic: OpenAiMagic): ChatChoice['toolCall'] {
  const { tools, tool_choice: choice, messages } = request
  if (!tools?.length || choice === 'none' || messages.at(-1)?.role !== 'user') {
    return undefined
  }
  const functions = tools.flatMap((tool) => tool.function ?? [])
  const chosen = typeof choice === 'object' ? choice?.function?.name : undefined
  const used = functions.find(({ name }) => name === chosen) ?? functions[0]
  if (used === undefined) {
    return undefined
  }
  const value = used.parameters === undefined ? {} : sampleValue(used.parameters, magic.prose)
  return { name: used.name, arguments: JSON.stringify(value) }
}
