import { createHash } from 'node:crypto'
import * as z from 'zod'
import { countOf, type OpenAiEndpoint, parseOpenAiBody, refusal, tokenIds, usageOf } from './openai-endpoint.ts'
import { countTokens } from './openai-text.ts'
import { fileUrl, stockImage } from './result-files.ts'

const INPUTS_MAX = 2048

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

/** `POST /embeddings`. */
export const embeddingsEndpoint: OpenAiEndpoint<EmbeddingsRequest> = {
  parse: (body) => {
    const request = parseOpenAiBody(embeddingsBody, body)
    const { dimensions, model } = request
    if (dimensions && (model.includes('ada-002') || dimensions > defaultDimensions(model))) {
      throw refusal(400, `This model does not support ${dimensions} dimensions.`, null, 'dimensions')
    }
    return request
  },
  promptOf: (request) =>
    inputsOf(request)
      .filter((input) => typeof input === 'string')
      .join('\n'),
  respond: (request, { magic }) => {
    const dimensions = request.dimensions ?? defaultDimensions(request.model)
    const isPacked = request.encoding_format === 'base64' && !magic.has('ignore-encoding')
    const inputs = inputsOf(request)
    const data = inputs.map((input, index) => {
      const vector = vectorOf(typeof input === 'string' ? wordsOf(input) : input.map(String), dimensions)
      return { object: 'embedding', index, embedding: isPacked ? packed(vector) : vector }
    })
    const prompt = inputs.reduce((sum, one) => sum + (typeof one === 'string' ? countTokens(one) : one.length), 0)
    const body = {
      object: 'list',
      data: magic.has('disordered') ? data.toReversed() : data,
      model: request.model,
      usage: usageOf(magic, prompt),
    }
    return { body }
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
  const numbers = input.filter((one) => typeof one === 'number')
  return numbers.length > 0 ? [numbers] : input.filter((one) => typeof one !== 'number')
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [text]
}

/** Bounds the time; more words would change the sum little. */
const WORDS_MAX = 512

/**
 * A deterministic unit vector of 32-bit numbers; vectors of texts with common words are close. A vector with fewer dimensions is the
 * normalized beginning of a longer one, as with real models.
 */
function vectorOf(words: readonly string[], dimensions: number): number[] {
  const sum = new Array<number>(dimensions).fill(0)
  for (const word of words.slice(0, WORDS_MAX)) {
    const bytes = createHash('shake256', { outputLength: dimensions }).update(word).digest()
    bytes.forEach((byte, index) => {
      sum[index] = (sum[index] ?? 0) + byte - 127.5
    })
  }
  const length = Math.hypot(...sum)
  return sum.map((value) => Math.fround(value / length))
}

/** The packed form: little-endian 32-bit floats in base64. */
function packed(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4)
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4)
  })
  return bytes.toString('base64')
}

const imagesBody = z.looseObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).nullish(),
  size: z.stringFormat('size', /^\d{1,4}x\d{1,4}$/).nullish(),
  quality: z.string().nullish(),
  style: z.enum(['vivid', 'natural']).nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
})

type ImagesRequest = Readonly<z.infer<typeof imagesBody>>

/** The model that returns revised prompts. */
const REVISING_MODEL = 'image-v3'
const SIDE_MAX = 2048
/** Real image urls work for about an hour. */
const URL_MS = 60 * 60 * 1000

/** `POST /images/generations`. Every image is the stock picture, whatever its size should be. */
export const imagesEndpoint: OpenAiEndpoint<ImagesRequest> = {
  parse: (body) => {
    const request = parseOpenAiBody(imagesBody, body)
    if (request.size?.split('x').some((side) => Number(side) < 1 || Number(side) > SIDE_MAX)) {
      throw refusal(400, `'${request.size}' is not a size of this model.`, 'invalid_value', 'size')
    }
    return request
  },
  promptOf: ({ prompt }) => prompt,
  respond: ({ model, prompt, n, response_format }, { magic, nowMs, origin }) => {
    const name = createHash('sha256').update(prompt).digest('hex').slice(0, 16)
    const data = Array.from({ length: countOf(n, magic) }, (_, index) => ({
      ...(response_format === 'b64_json'
        ? { b64_json: stockImage().toString('base64') }
        : { url: fileUrl(origin, `/images/${name}-${index}.png`, nowMs + URL_MS) }),
      ...(model === REVISING_MODEL && { revised_prompt: `${magic.prose}, as a gradient between two colours` }),
    }))
    return { body: { created: Math.floor(nowMs / 1000), data } }
  },
}
