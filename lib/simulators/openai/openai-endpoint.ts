import type { OpenAiMagic } from './openai-magic-prompt.ts'

/** What a whole simulated OpenAI-style upstream does; a single request is steered by its prompt instead. */
export type OpenAiLimits = {
  /** Tokens that the messages may have. */
  readonly contextTokensMax: number
  /** Tokens that one completion may have. */
  readonly outputTokensMax: number
}

/** What a response needs to know beside the request. */
export type OpenAiContext = {
  readonly magic: OpenAiMagic
  readonly limits: OpenAiLimits
  /** Milliseconds since 1970. */
  readonly nowMilliseconds: number
  /** Where the server's own files are reached, without a path. */
  readonly origin: string
}

/** A response that is not a refusal. */
export type OpenAiResponse =
  | { readonly kind: 'json'; readonly body: unknown }
  /** One JSON value for each event; the writer adds the end of the stream and what magic words ask for. */
  | { readonly kind: 'events'; readonly events: Iterable<unknown> }

/** One POST route. */
export type OpenAiEndpoint<Body extends { readonly model: string }> = {
  /** @throws OpenAiProblem for a body that the upstream refuses. */
  readonly parse: (body: unknown, limits: OpenAiLimits) => Body
  /** The text in which magic words are looked for. */
  readonly promptOf: (body: Body) => string
  readonly answer: (body: Body, context: OpenAiContext) => OpenAiResponse
}
