import type { Mark } from './mark.ts'

/** Prices of the models of marked traffic, in microcredits. */
export const PRICE_MICROCREDITS = { inputToken: 10, outputToken: 20, image: 20_000 } as const

/** Above every count of output. */
export const OUTPUT_TOKENS_MAX = 1_000

const IMAGES_MAX = 4

/** Tokens of the input: its own number for each tenant. */
export function inputTokens({ tenant }: Mark): number {
  return 10 + tenant
}

/** Tokens of the output: neighbouring requests have different ones. */
export function outputTokens({ request }: Mark): number {
  return 1 + (request % OUTPUT_TOKENS_MAX)
}

/** Images that a request asks for. */
export function imageCount({ request }: Mark): number {
  return 1 + (request % IMAGES_MAX)
}

/** What a chat or a completion costs, in microcredits. */
export function chatCost(mark: Mark): number {
  return inputTokens(mark) * PRICE_MICROCREDITS.inputToken + outputTokens(mark) * PRICE_MICROCREDITS.outputToken
}

/** What an embedding costs, in microcredits. */
export function embeddingCost(mark: Mark): number {
  return inputTokens(mark) * PRICE_MICROCREDITS.inputToken
}

/** What the images of a request cost, in microcredits. */
export function imageCost(mark: Mark): number {
  return imageCount(mark) * PRICE_MICROCREDITS.image
}
