import { jest } from '@jest/globals'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { AdmittedCall } from '#lambdas/relay/breakers.ts'
import type { RelayRoute } from '#lambdas/relay/serve-relay.ts'
import type { SendOutcome } from '#platform/http/send-once.ts'
import type { RelayResolution } from '#store/relay-ledger/relay-reservation.ts'
import type { UpstreamPost } from '#upstream/providers/openai.ts'
import { unswitched } from '../engines/test-catalogue.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { FakeBody } from './fake-body.ts'
import { fakeExchange } from './fake-exchange.ts'
import { FakeResponse } from './fake-response.ts'

setTestLogging()

export const MODEL = 'chat-a'

/** 1,000 and 2,000 credits per million tokens: a token is 1,000 or 2,000 millionths. */
const catalogue = createCatalogue(
  gatewayConfigSchema.parse({
    channels: [{ id: 'only', provider: 'openai', base_url: 'http://127.0.0.1:9', models: { [MODEL]: MODEL } }],
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
  readonly post: UpstreamPost
  readonly body: FakeBody
  answer(head?: { readonly status?: number; readonly contentType?: string; readonly requestId?: string }): void
  fail(error: Error): void
  /** Says that the client had left before anything was sent. */
  abort(): void
  /** What the breaker was told. */
  readonly reports: readonly string[]
}

/** A resolution as money, without the details that `chat-cost.test.ts` and `bill-request.test.ts` cover. */
function withoutDetails({ outcome: _outcome, ...resolution }: RelayResolution): Settled {
  if (resolution.kind === 'release') {
    return resolution
  }
  const { usage: _, channel: __, ...settled } = resolution
  return settled
}

type Settled = { readonly kind: string; readonly actual?: bigint; readonly estimated?: boolean }

/** One request under way against a fake upstream, client and ledger. */
export type FakedRequest = {
  readonly calls: readonly FakeCall[]
  /** What the log line of the request says. */
  readonly notes: Readonly<Record<string, unknown>>
  readonly answer: FakeResponse
  readonly reserved: readonly bigint[]
  readonly resolved: readonly Settled[]
  /** How each failure was told to the client. */
  readonly failures: readonly { readonly isBilled: boolean }[]
  /** Resolves when the whole of it is over, also when it was refused. */
  readonly over: Promise<{ readonly error: unknown }>
  /** Lets everything go on that waits for nothing but its turn. */
  settle(): Promise<void>
  /** The call for a prompt, the latest one. */
  callFor(prompt: string): FakeCall
}

/** @param json the body of the request. */
export function startRequest(
  { operation, relay }: Pick<RelayRoute, 'operation' | 'relay'>,
  json: object,
): FakedRequest {
  const calls: FakeCall[] = []
  const admitted: string[][] = []
  const reserved: bigint[] = []
  const resolved: Settled[] = []
  const failures: { isBilled: boolean }[] = []
  const answer = new FakeResponse()
  const exchange = fakeExchange({ operation, json, response: answer })
  jest.spyOn(exchange, 'tellFailure').mockImplementation((_, { isBilled }) => void failures.push({ isBilled }))
  const running = relay(exchange, {
    catalogue,
    currentCatalogue: unswitched(catalogue),
    nowMilliseconds: () => 1_700_000_000_000,
    ledger: {
      reserve: async ({ amount }) => {
        reserved.push(amount)
      },
      resolve: async (_, resolution) => {
        resolved.push(withoutDetails(resolution))
        return 'resolved'
      },
    },
    callers: { lookUp: async () => undefined, confirm: async () => exchange.caller, forget: () => undefined },
    rates: { take: async () => undefined },
    users: { counted: async () => undefined },
    random: () => 0,
    credential: async () => 'secret-key',
    breakers: {
      admit: () => {
        const reports: string[] = []
        admitted.push(reports)
        return new AdmittedCall(({ kind }) => reports.push(kind))
      },
      restMilliseconds: () => 0,
    },
    connections: {
      post: (post) => answerLater(post, { calls, reports: admitted[calls.length] ?? [] }),
      close: () => undefined,
    },
  })
  return {
    calls,
    notes: exchange.facts,
    answer,
    reserved,
    resolved,
    failures,
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

type Faked = { readonly calls: FakeCall[]; readonly reports: readonly string[] }

function answerLater(post: UpstreamPost, { calls, reports }: Faked): Promise<SendOutcome> {
  const outcome = Promise.withResolvers<SendOutcome>()
  const { messages, n = 1 } = JSON.parse(post.body)
  const body = new FakeBody()
  post.givenUp?.addEventListener('abort', () => outcome.resolve({ kind: 'given_up' }))
  calls.push({
    prompt: messages[0].content,
    n,
    post,
    body,
    answer: ({ status = 200, contentType = 'text/event-stream', requestId } = {}) => {
      const headers = { 'content-type': contentType, 'x-request-id': requestId }
      outcome.resolve({ kind: 'response', status, headers, body })
    },
    fail: (error) => outcome.reject(error),
    abort: () => outcome.resolve({ kind: 'aborted' }),
    reports,
  })
  return outcome.promise
}
