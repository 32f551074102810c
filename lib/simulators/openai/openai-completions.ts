import * as z from 'zod'
import { parseOpenAiBody } from './openai-body.ts'
import { takeTurns } from './openai-chat-events.ts'
import { refuseTooManyTokens } from './openai-chat-request.ts'
import type { OpenAiContext, OpenAiEndpoint } from './openai-endpoint.ts'
import { newId } from './openai-id.ts'
import { parseOpenAiMagic } from './openai-magic-prompt.ts'
import { longReply, replyTo } from './openai-reply.ts'
import { countTokens, type LimitedText, limitText, splitWords } from './openai-tokens.ts'
import { streamUsage, type TokenCounts, usageOf } from './openai-usage.ts'

const tokenIds = z.array(z.int().min(0)).min(1)
const completionsBody = z.looseObject({
  model: z.string().min(1),
  prompt: z.union([z.string(), z.array(z.string()).min(1), tokenIds, z.array(tokenIds).min(1)]),
  max_tokens: z.int().min(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
})

type CompletionsRequest = Readonly<z.infer<typeof completionsBody>>

/** Default of this route. */
const OUTPUT_TOKENS_DEFAULT = 16

type TextChoice = LimitedText & { readonly index: number }

/** `POST /completions`, the older route. `suffix` is accepted and has no effect. */
export const completionsEndpoint: OpenAiEndpoint<CompletionsRequest> = {
  parse: (body, limits) => {
    const request = parseOpenAiBody(completionsBody, body)
    refuseTooManyTokens('max_tokens', request.max_tokens, limits)
    return request
  },
  promptOf: (request) => promptsOf(request).join('\n'),
  answer: (request, context) => {
    const choices = textChoices(request, context)
    const prompt = promptsOf(request).reduce((sum, text) => sum + countTokens(text), 0)
    const head = {
      id: newId('cmpl-'),
      object: 'text_completion',
      created: Math.floor(context.nowMilliseconds / 1000),
      model: request.model,
    }
    if (request.stream === true) {
      return { kind: 'events', events: textEvents({ head, choices, prompt, request, context }) }
    }
    const completion = choices.reduce((sum, { text }) => sum + countTokens(text), 0)
    const body = {
      ...head,
      choices: choices.map(({ index, text, finishReason }) => choiceOf(index, text, finishReason)),
      usage: usageOf({ prompt, completion }, context.magic),
    }
    return { kind: 'json', body }
  },
}

/** Token ids are not decoded: each list becomes one prompt of numbers. */
function promptsOf({ prompt }: CompletionsRequest): readonly string[] {
  if (typeof prompt === 'string') {
    return [prompt]
  }
  const texts = prompt.map((one) => (Array.isArray(one) ? one.join(' ') : String(one)))
  return typeof prompt[0] === 'number' ? [texts.join(' ')] : texts
}

/** `n` for each prompt, in the order of the prompts. */
function textChoices(request: CompletionsRequest, { magic }: OpenAiContext): readonly TextChoice[] {
  const count = magic.flags.has('fewer') ? Math.max(1, (request.n ?? 1) - 1) : (request.n ?? 1)
  const limits = { stops: [request.stop ?? []].flat(), tokensMax: request.max_tokens ?? OUTPUT_TOKENS_DEFAULT }
  const choices = promptsOf(request).flatMap((prompt) =>
    Array.from({ length: count }, (_, choice) => {
      const { prose } = parseOpenAiMagic(prompt)
      const reply = magic.words === undefined ? replyTo({ prose, images: 0, choice }) : longReply(magic.words)
      const limited = limitText(` ${reply}`, limits)
      return request.echo === true ? { ...limited, text: `${prompt}${limited.text}` } : limited
    }),
  )
  return choices.map((choice, index) => ({ ...choice, index }))
}

function choiceOf(index: number, text: string, finishReason: string | null) {
  return { text, index, logprobs: null, finish_reason: finishReason }
}

type TextStream = {
  readonly head: Readonly<Record<string, unknown>>
  readonly choices: readonly TextChoice[]
  readonly prompt: number
  readonly request: CompletionsRequest
  readonly context: OpenAiContext
}

function* textEvents({ head, choices, prompt, request, context }: TextStream): Generator<unknown> {
  const usage = streamUsage(request.stream_options?.include_usage === true, context.magic)
  let completion = 0
  const counts = (): TokenCounts => ({ prompt, completion })
  for (const { index, word, finishReason } of takeTurns(choices.map(wordsOf))) {
    completion += countTokens(word)
    const extra = finishReason === null ? usage.onEvent(counts()) : usage.onFinish(counts())
    yield { ...head, choices: [choiceOf(index, word, finishReason)], ...extra }
  }
  const last = usage.atEnd(counts())
  if (last !== undefined) {
    yield { ...head, choices: [], ...last }
  }
}

type TextStep = { readonly index: number; readonly word: string; readonly finishReason: string | null }

function* wordsOf({ index, text, finishReason }: TextChoice): Generator<TextStep> {
  for (const word of splitWords(text)) {
    yield { index, word, finishReason: null }
  }
  yield { index, word: '', finishReason }
}
