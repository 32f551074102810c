import * as z from 'zod'
import type { EmbeddingModel } from '../catalogue/model.ts'
import { InvalidRequestError } from '../errors.ts'
import { type Offered, parseBody, requestedModel, requiredMessage } from './request-issues.ts'

/** Most inputs of one request; the limit of the OpenAI API. */
export const INPUTS_MAX = 2048

/** The form of the vectors in a response: arrays of numbers, or base64 of packed little-endian float32. */
export type EncodingFormat = 'float' | 'base64'

/** The inputs in the order of the response: strings, or inputs that the client has tokenized. */
export type EmbeddingInputs =
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  /** The number of tokens of each input; the ids go upstream as they are. */
  | { readonly kind: 'tokens'; readonly counts: readonly number[] }

/** What the gateway reads from an embedding request. The fields that pass go upstream as the client wrote them. */
export type EmbeddingRequest = {
  readonly model: EmbeddingModel
  readonly inputs: EmbeddingInputs
  readonly encodingFormat: EncodingFormat
  readonly dimensions?: number
}

const DIMENSIONS_MESSAGE = '`dimensions` must be an integer of 1 or more'

/** `input` is checked by hand below: zod would copy each of a hundred thousand tokens and could report an issue for each. */
export const embeddingBodySchema = z.looseObject(
  {
    model: z.string('`model` must be a string: the id of an embedding model'),
    encoding_format: z.enum(['float', 'base64'], '`encoding_format` must be float or base64').nullish(),
    dimensions: z.number(DIMENSIONS_MESSAGE).int(DIMENSIONS_MESSAGE).min(1, DIMENSIONS_MESSAGE).nullish(),
    user: z.string('`user` must be a string').nullish(),
  },
  'the body must be a JSON object',
)

/**
 * Checks the body of `POST /v1/embeddings`, except for the length of the inputs in tokens, which `boundInputTokens` checks.
 * `allowed-fields.ts` lists all that pass upstream.
 * @throws InvalidRequestError naming the field to correct, never repeating an input; ModelNotFoundError. Both come before
 *   any reservation.
 */
export function parseEmbeddingRequest(json: unknown, offered: Offered): EmbeddingRequest {
  const body = parseBody(embeddingBodySchema, json)
  const inputs = readInputs(body.input)
  const model = requestedModel(body.model, 'embedding', offered)
  const dimensions = body.dimensions ?? undefined
  if (dimensions !== undefined) {
    checkDimensions(dimensions, model)
  }
  return {
    model,
    inputs,
    encodingFormat: body.encoding_format ?? 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
  }
}

const INPUT_MESSAGE = '`input` must be a string, an array of strings, an array of token ids or an array of such arrays'

/** The first element decides the type of all elements. */
function readInputs(input: unknown): EmbeddingInputs {
  if (typeof input === 'string') {
    return { kind: 'texts', texts: readTexts([input]) }
  }
  if (!Array.isArray(input)) {
    throw refusedInput(input === undefined ? requiredMessage(INPUT_MESSAGE) : INPUT_MESSAGE)
  }
  const list: readonly unknown[] = input
  const [first] = list
  if (list.length === 0) {
    throw refusedInput('`input` must not be an empty array')
  }
  if (typeof first === 'number') {
    return { kind: 'tokens', counts: countTokenIds([list]) }
  }
  if (list.length > INPUTS_MAX) {
    throw refusedInput(`\`input\` must hold at most ${INPUTS_MAX} strings or arrays of token ids`)
  }
  if (typeof first === 'string') {
    return { kind: 'texts', texts: readTexts(list) }
  }
  if (Array.isArray(first)) {
    return { kind: 'tokens', counts: countTokenIds(list) }
  }
  throw refusedInput(INPUT_MESSAGE)
}

function readTexts(list: readonly unknown[]): string[] {
  return list.map((text, index) => {
    if (typeof text !== 'string') {
      throw refusedInput(`\`input[${index}]\` must be a string, because \`input[0]\` is one`)
    }
    if (text === '') {
      throw refusedInput(list.length > 1 ? `\`input[${index}]\` must not be empty` : '`input` must not be empty')
    }
    return text
  })
}

function countTokenIds(lists: readonly unknown[]): number[] {
  return lists.map((list, index) => {
    if (!Array.isArray(list) || !list.every(isTokenId)) {
      throw refusedInput(`\`input[${index}]\` must be an array of token ids, which are integers of 0 or more`)
    }
    if (list.length === 0) {
      throw refusedInput(`\`input[${index}]\` must not be empty`)
    }
    return list.length
  })
}

function isTokenId(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function checkDimensions(dimensions: number, { id, dimensions: isVariable, default_dimensions: most }: EmbeddingModel) {
  const message = isVariable
    ? `\`dimensions\` must be from 1 to ${most} for ${id}`
    : `\`dimensions\` must be left out for ${id}, which always returns ${most} dimensions`
  if (!isVariable || dimensions > most) {
    throw new InvalidRequestError([{ path: 'dimensions', message }])
  }
}

function refusedInput(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: 'input', message }])
}
