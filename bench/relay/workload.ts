/** How the upstream paces the events of a streamed answer: one after the other, or with a pause between two. */
export const PACES = ['burst', 'paced'] as const
export type Pace = (typeof PACES)[number]

/** Between two events of a paced stream. */
export const PACE_MILLISECONDS = 10

/** The upstream's own name of the model. All names of the workload are equally long, so that all answers are. */
export const UPSTREAM_MODEL = 'gpt-mock'

/** Events of a streamed answer, without the last one, `[DONE]`. */
const EVENTS = 20

/** One and the same time in every answer, Unix seconds. */
const CREATED = 1_700_000_000

const ID = 'chatcmpl-mock-0000000000000000000000'

/** The body of every request, but for the model and the wish for a stream. */
const QUESTION = {
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Say something short about relays, gateways and the price of one more hop.' },
  ],
  temperature: 0.7,
  max_tokens: 128,
}

/** The JSON of a chat request. */
export function chatRequestBody(model: string, stream: boolean): string {
  return JSON.stringify({ model, ...QUESTION, ...(stream ? { stream: true } : {}) })
}

/** The answer in one piece. */
export const COMPLETION = Buffer.from(
  JSON.stringify({
    id: ID,
    object: 'chat.completion',
    created: CREATED,
    model: UPSTREAM_MODEL,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content:
            'The quick brown fox jumps over the lazy dog while the gateway in the middle counts tokens, ' +
            'checks quotas and passes every single byte along unchanged, which is all that we ask of it here. ' +
            'This sentence only pads the body to a realistic size.',
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 24, completion_tokens: 57, total_tokens: 81 },
    system_fingerprint: 'fp_mock',
  }),
)

/** The events of a streamed answer, each as it is written, `[DONE]` last. None of them reports usage. */
export const STREAM_EVENTS: readonly Buffer[] = [
  ...Array.from({ length: EVENTS }, (_, index) => chunkEvent(index)),
  Buffer.from('data: [DONE]\n\n'),
]

function chunkEvent(index: number): Buffer {
  const isLast = index === EVENTS - 1
  const choice = { index: 0, delta: deltaOf(index, isLast), finish_reason: isLast ? 'stop' : null }
  const chunk = { id: ID, object: 'chat.completion.chunk', created: CREATED, model: UPSTREAM_MODEL, choices: [choice] }
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)
}

function deltaOf(index: number, isLast: boolean): object {
  if (isLast) {
    return {}
  }
  return index === 0 ? { role: 'assistant', content: 'token ' } : { content: `token-${index} ` }
}

/** Bytes of a whole answer: what every target must deliver, for every one of its models. */
export const ANSWER_BYTES = {
  json: COMPLETION.length,
  stream: STREAM_EVENTS.reduce((sum, { length }) => sum + length, 0),
} as const
