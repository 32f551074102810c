import type { UpstreamCall } from '#adapters/relay/call-upstream.ts'
import type { RelayRequest } from '#adapters/relay/relay-request.ts'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import type { CompletionReply } from '#lambdas/api/create-completion/completion-exchange.ts'
import { createCompletion } from '#lambdas/api/create-completion/create-completion.ts'
import { FakeAnswer } from './fake-answer.ts'
import { FakeBody } from './fake-body.ts'

process.env.POWERTOOLS_METRICS_DISABLED = 'true'

export const MODEL = 'chat-a'

/** 1,000 and 2,000 credits per million tokens: a token is 1,000 or 2,000 millionths. */
const catalogue = createCatalogue(
  gatewayConfigSchema.parse({
    channels: [
      { id: 'only', provider: 'openai', base_url: 'http://127.0.0.1:9', models: { [MODEL]: 'upstream-chat' } },
    ],
    models: [
      {
        id: MODEL,
        kind: 'chat',
        billing: 'token',
        context_tokens: 8192,
        max_output_tokens: 1000,
        prices: [{ input_per_million: '1000', output_per_million: '2000' }],
      },
    ],
  }),
)

/** One call as the fake upstream got it, to be answered when the test wants. */
type FakeCall = {
  readonly prompt: string
  readonly n: number
  readonly call: UpstreamCall
  readonly body: FakeBody
  answer(members?: Partial<Pick<CompletionReply, 'status' | 'contentType'>>): void
  fail(error: Error): void
  /** How often the breaker was told. */
  readonly failures: number
  readonly completions: number
}

type Settled = { readonly kind: string; readonly actual?: bigint; readonly estimated?: boolean }

/** One legacy completion under way against a fake upstream, client and ledger. */
export type FakedCompletion = {
  readonly calls: readonly FakeCall[]
  readonly answer: FakeAnswer
  readonly reserved: readonly bigint[]
  readonly resolved: readonly Settled[]
  /** Resolves when the whole of it is over, also when it was refused. */
  readonly over: Promise<{ readonly error: unknown }>
  /** Lets everything go on that waits for nothing but its turn. */
  settle(): Promise<void>
  /** The call for a prompt, the latest one. */
  callFor(prompt: string): FakeCall
}

export function startCompletion(members: object): FakedCompletion {
  const calls: FakeCall[] = []
  const reserved: bigint[] = []
  const resolved: Settled[] = []
  const answer = new FakeAnswer()
  const running = createCompletion(requestOf({ model: MODEL, max_tokens: 10, ...members }), answer, {
    catalogue,
    nowMilliseconds: () => 1_700_000_000_000,
    ledger: {
      reserve: async ({ amount }) => {
        reserved.push(amount)
      },
      resolve: async (_, resolution) => {
        resolved.push(resolution)
        return 'resolved'
      },
    },
    callUpstream: (call) => answerLater(call, calls),
  })
  return {
    calls,
    answer,
    reserved,
    resolved,
    over: running.then(
      () => ({ error: undefined }),
      (error: unknown) => ({ error }),
    ),
    settle: async () => {
      for (let turn = 0; turn < TURNS; turn += 1) {
        await new Promise(setImmediate)
      }
    },
    callFor: (prompt) => {
      const found = calls.findLast((call) => call.prompt === prompt)
      if (found === undefined) {
        throw new RangeError(`no call for ${prompt}`)
      }
      return found
    },
  }
}

/** More than any chain of promises here is long. */
const TURNS = 5

function answerLater(call: UpstreamCall, calls: FakeCall[]): Promise<CompletionReply> {
  const reply = Promise.withResolvers<CompletionReply>()
  const { messages, n = 1 } = JSON.parse(call.body('upstream-chat'))
  const body = new FakeBody()
  let failures = 0
  let completions = 0
  calls.push({
    prompt: messages[0].content,
    n,
    call,
    body,
    answer: ({ status = 200, contentType = 'text/event-stream' } = {}) =>
      reply.resolve({
        channel: { id: 'only' },
        status,
        contentType,
        upstreamRequestId: undefined,
        attempts: 1,
        body,
        failed: () => {
          failures += 1
        },
        completed: () => {
          completions += 1
        },
      }),
    fail: (error) => reply.reject(error),
    get failures() {
      return failures
    },
    get completions() {
      return completions
    },
  })
  return reply.promise
}

function requestOf(json: object): RelayRequest {
  const bodyText = JSON.stringify(json)
  return {
    requestId: 'request-1',
    caller: { tenantId: 'tenant', keyId: 'key', keyDigest: 'digest', models: null },
    confirmCaller: async () => undefined,
    bodyText,
    bodyBytes: Buffer.byteLength(bodyText),
    json,
    sessionId: undefined,
    tellFailure: () => undefined,
    note: () => undefined,
  }
}
