import type { CompletionRequest } from '#core/contract/completion-request.ts'
import type { CallEnd } from '#core/quota/completion-cost.ts'
import type { CompletionCall, WriteCompletionCall } from '#core/relay/completion-calls.ts'
import type { CompletionHead } from '#core/relay/completion-reply.ts'
import type { ClientResponse } from '../client-response.ts'
import type { RelayContext } from '../relay-context.ts'
import type { RelayExchange } from '../relay-exchange.ts'

type SendCompletionCall = (call: CompletionCall) => string

/** Prompts may go to several channels: what any of them leaves out is told to the client. */
export function tellingCalls(
  writeCall: WriteCompletionCall,
  exchange: Pick<RelayExchange, 'tellIgnored'>,
): SendCompletionCall {
  const all = new Set<string>()
  return (call) => {
    const { text, ignored } = writeCall(call)
    for (const name of ignored) {
      all.add(name)
    }
    exchange.tellIgnored([...all])
    return text
  }
}

/** One request on its way, after its reservation. */
export type CompletionExchange = {
  readonly request: RelayExchange
  readonly completion: CompletionRequest
  readonly answer: ClientResponse
  readonly context: RelayContext
  readonly sendCall: SendCompletionCall
  /** How long the chat call of each prompt is, in UTF-8, for the channel of the model that gets the longest. */
  readonly callBytes: readonly number[]
  /** What stands for an id and a time that an upstream leaves out. */
  readonly fallback: CompletionHead
}

/** How far one prompt of a request has come. */
export type PromptRun = {
  readonly promptIndex: number
  /** An upstream may have seen it. */
  isSent: boolean
  /** One of its calls may be at work, and has not come to its end. */
  isUnderWay: boolean
  /** A call of which more came than is held. */
  cut: CallEnd | undefined
  /** It has all its completions. */
  isWhole: boolean
}

/** The prompts of a request before any of them is sent. */
export function promptRuns({ prompts }: CompletionRequest): readonly PromptRun[] {
  return prompts.map((_, promptIndex) => ({
    promptIndex,
    isSent: false,
    isUnderWay: false,
    cut: undefined,
    isWhole: false,
  }))
}

/** Prompts whose upstreams are at work at the same time: a request is no burst on a channel. */
export const PROMPTS_AT_ONCE = 8

/** Calls for completions that an upstream left out, for each prompt, after the first. */
export const REPEATS_MAX = 2
