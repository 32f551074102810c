import type { ChatChoice, ChatOutcome } from './openai-chat-choices.ts'
import { newId } from './openai-id.ts'
import type { OpenAiMagic } from './openai-magic-prompt.ts'
import { countTokens, splitWords } from './openai-tokens.ts'
import { streamUsage } from './openai-usage.ts'

type ChatStream = {
  readonly head: { readonly id: string; readonly created: number; readonly model: string }
  readonly outcome: ChatOutcome
  readonly isUsageAsked: boolean
  readonly magic: OpenAiMagic
}

/** One event of one completion. */
type Delta = {
  readonly index: number
  readonly delta: unknown
  readonly finishReason: ChatChoice['finishReason'] | null
  readonly tokens: number
}

/** Characters of each streamed piece of arguments. */
const ARGUMENT_PIECE = /[\s\S]{1,8}/gu

/** Yields the JSON of each event of a chat stream. Several completions alternate. */
export function* chatEvents({ head, outcome, isUsageAsked, magic }: ChatStream): Generator<unknown> {
  const usage = streamUsage(isUsageAsked, magic)
  let completion = 0
  const envelope = (choices: readonly unknown[]) => ({
    id: head.id,
    object: 'chat.completion.chunk',
    created: head.created,
    model: head.model,
    choices,
  })
  for (const { index, delta, finishReason, tokens } of takeTurns(outcome.choices.map(deltasOf))) {
    completion += tokens
    const counts = { prompt: outcome.promptTokens, completion }
    const extra = finishReason === null ? usage.onEvent(counts) : usage.onFinish(counts)
    yield { ...envelope([{ index, delta, finish_reason: finishReason }]), ...extra }
  }
  const last = usage.atEnd({ prompt: outcome.promptTokens, completion })
  if (last !== undefined) {
    yield { ...envelope([]), ...last }
  }
}

/** Yields the role, the words or pieces of arguments, and the end. */
function* deltasOf(choice: ChatChoice): Generator<Delta> {
  const { index, toolCall } = choice
  const step = (delta: unknown, tokens = 0): Delta => ({ index, delta, finishReason: null, tokens })
  if (toolCall === undefined) {
    yield step({ role: 'assistant', content: '' })
    for (const word of splitWords(choice.content)) {
      yield step({ content: word }, countTokens(word))
    }
  } else {
    const call = {
      index: 0,
      id: newId('call_'),
      type: 'function',
      function: { name: toolCall.name, arguments: '' },
    }
    yield step({ role: 'assistant', content: null, tool_calls: [call] }, choice.tokens)
    for (const piece of toolCall.arguments.match(ARGUMENT_PIECE) ?? []) {
      yield step({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
    }
  }
  yield { index, delta: {}, finishReason: choice.finishReason, tokens: 0 }
}

/** Alternates between the iterators until all have ended. */
export function* takeTurns<Step>(sources: readonly Generator<Step>[]): Generator<Step> {
  let open = sources
  while (open.length > 0) {
    const ended = new Set<Generator<Step>>()
    for (const source of open) {
      const { done, value } = source.next()
      if (done) {
        ended.add(source)
      } else {
        yield value
      }
    }
    open = open.filter((source) => !ended.has(source))
  }
}
