import * as z from 'zod'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { EmbeddingModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError } from '../errors.ts'
import { parseBody } from './request-issues.ts'

/** Inputs that one request may hold; the wire's own limit. */
export const INPUTS_MAX = 2048

/** How the vectors of an answer are written: lists of numbers, or base64 of packed little-endian float32. */
export type EncodingFormat = 'float' | 'base64'

/** What is to be embedded, in the order of the answer: texts, or texts that the client has cut into tokens already. */
export type EmbeddingInputs =
  | { readonly kind: 'texts'; readonly texts: readonly string[] }
  /** Tokens of each input; the ids themselves go upstream as they are. */
  | { readonly kind: 'tokens'; readonly counts: readonly number[] }

/** What the gateway itself needs to know of an embedding request; what passes of the body goes upstream as the client wrote it. */
export type EmbeddingRequest = {
  readonly model: EmbeddingModel
  readonly inputs: EmbeddingInputs
  readonly encodingFormat: EncodingFormat
  readonly dimensions?: number
}

type Context = {
  readonly catalogue: Catalogue
  /** Models the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

const DIMENSIONS_SENTENCE = 'dimensions must be a whole number of 1 or more'

/** An input may hold a hundred thousand tokens: it is read by hand below, without an issue or a copy for each. */
export const embeddingBodySchema = z.looseObject(
  {
    model: z.string('model must be a text: the id of an embedding model'),
    encoding_format: z.enum(['float', 'base64'], 'encoding_format must be float or base64').nullish(),
    dimensions: z.number(DIMENSIONS_SENTENCE).int(DIMENSIONS_SENTENCE).min(1, DIMENSIONS_SENTENCE).nullish(),
    user: z.string('user must be a text').nullish(),
  },
  'the body must be a JSON object',
)

/**
 * Checks the body of `POST /v1/embeddings` (interface, section of that name) up to the length of its inputs in tokens,
 * which `boundInputTokens` checks. What else passes is in `passing-fields.ts`.
 * @throws InvalidRequestError saying what to mend, never repeating an input; ModelNotFoundError. Nothing was reserved yet.
 */
export function parseEmbeddingRequest(json: unknown, { catalogue, allowedModels }: Context): EmbeddingRequest {
  const body = parseBody(embeddingBodySchema, json)
  const inputs = readInputs(body.input)
  const model = catalogue.findRelayModel(body.model, { kind: 'embedding', allowed: allowedModels })
  if (model === undefined) {
    throw new ModelNotFoundError(body.model)
  }
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

const INPUT_SENTENCE = 'input must be a text, a list of texts, a list of token ids or a list of such lists'

/** The first element decides what the list is, and what every other element has to be. */
function readInputs(input: unknown): EmbeddingInputs {
  if (typeof input === 'string') {
    return { kind: 'texts', texts: readTexts([input]) }
  }
  if (!Array.isArray(input)) {
    throw refusedInput(INPUT_SENTENCE)
  }
  const list: readonly unknown[] = input
  const [first] = list
  if (list.length === 0) {
    throw refusedInput('input must not be an empty list')
  }
  if (typeof first === 'number') {
    return { kind: 'tokens', counts: countTokenIds([list]) }
  }
  if (list.length > INPUTS_MAX) {
    throw refusedInput(`input must hold at most ${INPUTS_MAX} texts or lists of token ids`)
  }
  if (typeof first === 'string') {
    return { kind: 'texts', texts: readTexts(list) }
  }
  if (Array.isArray(first)) {
    return { kind: 'tokens', counts: countTokenIds(list) }
  }
  throw refusedInput(INPUT_SENTENCE)
}

function readTexts(list: readonly unknown[]): string[] {
  return list.map((text, index) => {
    if (typeof text !== 'string') {
      throw refusedInput(`input[${index}] must be a text, as input[0] is`)
    }
    if (text === '') {
      throw refusedInput(`input[${index}] must not be empty`)
    }
    return text
  })
}

function countTokenIds(lists: readonly unknown[]): number[] {
  return lists.map((list, index) => {
    if (!Array.isArray(list) || !list.every(isTokenId)) {
      throw refusedInput(`input[${index}] must be a list of token ids, which are whole numbers of 0 or more`)
    }
    if (list.length === 0) {
      throw refusedInput(`input[${index}] must not be empty`)
    }
    return list.length
  })
}

function isTokenId(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function checkDimensions(dimensions: number, { id, dimensions: isVariable, default_dimensions: most }: EmbeddingModel) {
  const message = isVariable
    ? `${id} makes 1 to ${most} dimensions`
    : `${id} always makes ${most} dimensions; leave it out`
  if (!isVariable || dimensions > most) {
    throw new InvalidRequestError([{ path: 'dimensions', message }])
  }
}

function refusedInput(message: string): InvalidRequestError {
  return new InvalidRequestError([{ path: 'input', message }])
}
