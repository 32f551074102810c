import * as z from 'zod'
import { parseOpenAiBody } from './openai-body.ts'
import { embedWords } from './openai-embedding-vector.ts'
import type { OpenAiEndpoint } from './openai-endpoint.ts'
import { invalidParameter } from './openai-errors.ts'
import { countTokens } from './openai-tokens.ts'
import { usageOf } from './openai-usage.ts'

const INPUTS_MAX = 2048
const TOKENS_MAX = 8192

const tokenIds = z.array(z.int().min(0)).min(1)
const embeddingsBody = z.looseObject({
  model: z.string().min(1),
  input: z.union([
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(INPUTS_MAX),
    tokenIds,
    z.array(tokenIds).min(1).max(INPUTS_MAX),
  ]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
})

type EmbeddingsRequest = Readonly<z.infer<typeof embeddingsBody>>

/** `POST /embeddings`. Token lists have a length limit. Strings have none, which would need a real tokenizer. */
export const embeddingsEndpoint: OpenAiEndpoint<EmbeddingsRequest> = {
  parse: (body) => {
    const request = parseOpenAiBody(embeddingsBody, body)
    const { dimensions, model } = request
    if (dimensions && (model.includes('ada-002') || dimensions > defaultDimensions(model))) {
      throw invalidParameter(`This model does not support ${dimensions} dimensions.`, 'dimensions')
    }
    if (inputsOf(request).some((input) => typeof input !== 'string' && input.length > TOKENS_MAX)) {
      throw invalidParameter(`This model's maximum context length is ${TOKENS_MAX} tokens.`, 'input')
    }
    return request
  },
  promptOf: (request) =>
    inputsOf(request)
      .filter((input) => typeof input === 'string')
      .join('\n'),
  answer: (request, { magic }) => {
    const dimensions = request.dimensions ?? defaultDimensions(request.model)
    const isPacked = request.encoding_format === 'base64' && !magic.flags.has('ignore-encoding')
    const inputs = inputsOf(request)
    const data = inputs.map((input, index) => {
      const vector = embedWords(typeof input === 'string' ? wordsOf(input) : input.map(String), dimensions)
      return { object: 'embedding', index, embedding: isPacked ? packVector(vector) : [...vector] }
    })
    const prompt = inputs.reduce(
      (sum, input) => sum + (typeof input === 'string' ? countTokens(input) : input.length),
      0,
    )
    const body = {
      object: 'list',
      data: magic.flags.has('disordered') ? data.toReversed() : data,
      model: request.model,
      usage: usageOf({ prompt }, magic),
    }
    return { kind: 'json', body }
  },
}

/** Dimensions of the real models with these names. */
function defaultDimensions(model: string): number {
  return model.endsWith('-large') ? 3072 : 1536
}

function inputsOf({ input }: EmbeddingsRequest): readonly (string | readonly number[])[] {
  if (typeof input === 'string') {
    return [input]
  }
  const texts = input.filter((one) => typeof one === 'string')
  const lists = input.filter((one) => Array.isArray(one))
  const numbers = input.filter((one) => typeof one === 'number')
  return numbers.length > 0 ? [numbers] : [...texts, ...lists]
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [text]
}

/** The packed form: little-endian 32-bit floats in base64. */
function packVector(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT)
  for (const [index, value] of vector.entries()) {
    bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT)
  }
  return bytes.toString('base64')
}
