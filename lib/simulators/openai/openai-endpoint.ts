import type { OpenAiMagic } from './openai-magic-prompt.ts'

/** Behaviour of the whole simulated upstream. Prompts control single requests. */
export type OpenAiLimits = {
  /** Most tokens of the messages. */
  readonly contextTokensMax: number
  /** Most tokens of one completion. */
  readonly outputTokensMax: number
}

/** The context of a response. */
export type OpenAiContext = {
  readonly magic: OpenAiMagic
  readonly limits: OpenAiLimits
  /** Milliseconds since 1970. */
  readonly nowMilliseconds: number
  /** Origin of the server's files. */
  readonly origin: string
}

/** A successful response. */
export type OpenAiResponse =
  | { readonly kind: 'json'; readonly body: unknown }
  /** One JSON value per event. The writer adds the end of the stream and the effects of magic words. */
  | { readonly kind: 'events'; readonly events: Iterable<unknown> }

/** One POST route. */
export type OpenAiEndpoint<Body extends { readonly model: string }> = {
  /** @throws OpenAiProblem for a body that the upstream refuses. */
  readonly parse: (body: unknown, limits: OpenAiLimits) => Body
  /** Returns the string with the magic words. */
  readonly promptOf: (body: Body) => string
  readonly answer: (body: Body, context: OpenAiContext) => OpenAiResponse
}
