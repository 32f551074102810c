import * as z from 'zod'
import { CHOICES_MAX, samplingParameters } from './chat-body.ts'

/** Prompts of one request, each of which is a chat call of its own; with `n` completions for each no more than a chat gives. */
const PROMPTS_MAX = CHOICES_MAX

/** What echo and suffix may add to an answer, which repeats them for each completion. Any real answer stays far below. */
const ADDED_CHARACTERS_MAX = 8 * 1024 * 1024

const SENTENCES = {
  prompt: 'prompt must be a text or a list of texts',
  promptTokens: 'prompt must be text: token ids cannot be taken, because chat models answer messages',
  promptNone: 'prompt must hold one text at least',
  promptMany: `prompt must hold ${PROMPTS_MAX} texts at most`,
  maxCompletionTokens: 'max_completion_tokens must be a whole number, 1 at least',
  bestOf: 'best_of must be left out, or be the same as n',
  added: 'echo and suffix would repeat more text than an answer can hold: send fewer prompts, or a smaller n',
  logprobs: 'logprobs must be left out: chat models report them in another shape',
} as const

/** Lengths come before elements: a body has room for a million of them, and each would be an issue of its own. */
const prompt = z.unknown().transform((value, context): readonly string[] => {
  const texts = typeof value === 'string' ? [value] : value
  if (isPromptList(texts)) {
    return texts
  }
  context.addIssue({ code: 'custom', message: promptSentence(value) })
  return z.NEVER
})

function isPromptList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= PROMPTS_MAX &&
    value.every((element) => typeof element === 'string')
  )
}

function promptSentence(value: unknown): string {
  if (!Array.isArray(value)) {
    return SENTENCES.prompt
  }
  if (value.length === 0) {
    return SENTENCES.promptNone
  }
  if (value.some((element) => typeof element === 'number' || Array.isArray(element))) {
    return SENTENCES.promptTokens
  }
  return value.length > PROMPTS_MAX ? SENTENCES.promptMany : SENTENCES.prompt
}

/**
 * The body of `POST /v1/completions` as the interface lists it, and the members of the older completion interface that
 * chat has no word for. What else passes is in `passing-fields.ts`.
 *
 * Log probabilities come back null, so asking for them is refused (zero asks for nothing). The best of many is chosen by
 * them: to answer with fewer draws than were asked for, in silence, would be another product than the one meant.
 */
export const completionBodySchema = z
  .looseObject(
    {
      model: z.string('model must be a text: the id of a chat model'),
      prompt,
      echo: z.boolean('echo must be true or false').nullish(),
      suffix: z.string('suffix must be a text').nullish(),
      logprobs: z.literal(0, SENTENCES.logprobs).nullish(),
      best_of: z.number(SENTENCES.bestOf).nullish(),
      max_completion_tokens: z
        .number(SENTENCES.maxCompletionTokens)
        .int(SENTENCES.maxCompletionTokens)
        .min(1, SENTENCES.maxCompletionTokens)
        .nullish(),
      ...samplingParameters,
    },
    'the body must be a JSON object',
  )
  .superRefine((body, context) => {
    const n = body.n ?? 1
    const count = body.prompt.length * n
    if (count > CHOICES_MAX && n <= CHOICES_MAX) {
      const message = `prompts times n must be ${CHOICES_MAX} at most; ${count} asked for`
      context.addIssue({ code: 'custom', path: ['n'], message })
    }
    if (body.best_of != null && body.best_of !== n) {
      context.addIssue({ code: 'custom', path: ['best_of'], message: SENTENCES.bestOf })
    }
    if (addedCharacters(body) > ADDED_CHARACTERS_MAX) {
      context.addIssue({ code: 'custom', path: [body.echo ? 'echo' : 'suffix'], message: SENTENCES.added })
    }
  })

type Added = {
  readonly prompt: readonly string[]
  readonly n?: number | null | undefined
  readonly echo?: boolean | null | undefined
  readonly suffix?: string | null | undefined
}

function addedCharacters({ prompt: prompts, n, echo, suffix }: Added): number {
  const echoed = echo ? prompts.reduce((sum, text) => sum + text.length, 0) : 0
  return (n ?? 1) * (echoed + prompts.length * (suffix?.length ?? 0))
}

/** The body of a completion request as far as the gateway reads it. */
export type CompletionBody = z.infer<typeof completionBodySchema>
