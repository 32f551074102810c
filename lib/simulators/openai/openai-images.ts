import * as z from 'zod'
import { parseOpenAiBody } from './openai-body.ts'
import type { OpenAiEndpoint } from './openai-endpoint.ts'
import { invalidParameter } from './openai-errors.ts'
import { hashText } from './openai-hash.ts'
import { imageUrl } from './openai-image-files.ts'
import { gradientPng, type ImageSize } from './openai-png.ts'

const imagesBody = z.looseObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).nullish(),
  size: z
    .string()
    .regex(/^\d{1,4}x\d{1,4}$/)
    .nullish(),
  quality: z.string().nullish(),
  style: z.enum(['vivid', 'natural']).nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
})

type ImagesRequest = Readonly<z.infer<typeof imagesBody>>

/** Limits of the two known models. Other models accept every size up to `SIDE_MAX`. */
type ImageModelRules = {
  readonly sizes: readonly string[]
  readonly n: number
  readonly qualities: readonly string[]
  readonly promptCharactersMax: number
}

const MODELS: ReadonlyMap<string, ImageModelRules> = new Map([
  [
    'image-v3',
    {
      sizes: ['1024x1024', '1792x1024', '1024x1792'],
      n: 1,
      qualities: ['standard', 'hd'],
      promptCharactersMax: 4000,
    },
  ],
  [
    'image-v2',
    {
      sizes: ['256x256', '512x512', '1024x1024'],
      n: 10,
      qualities: ['standard'],
      promptCharactersMax: Number.POSITIVE_INFINITY,
    },
  ],
])

const SIDE_MAX = 2048
const SIZE_DEFAULT = '1024x1024'

/** The known model that returns revised prompts. */
const REVISING_MODEL = 'image-v3'

/** `POST /images/generations`. */
export const imagesEndpoint: OpenAiEndpoint<ImagesRequest> = {
  parse: (body) => {
    const request = parseOpenAiBody(imagesBody, body)
    refuseBySize(request)
    refuseByModel(request)
    return request
  },
  promptOf: ({ prompt }) => prompt,
  answer: (request, { magic, nowMilliseconds, origin }) => {
    const asked = request.n ?? 1
    const count = magic.flags.has('fewer') ? Math.max(1, asked - 1) : asked
    const size = sizeOf(request)
    const data = Array.from({ length: count }, (_, index) => {
      const seed = hashText(`${index}\n${request.prompt}`)
      return {
        ...(request.response_format === 'b64_json'
          ? { b64_json: gradientPng(seed, size).toString('base64') }
          : { url: imageUrl({ seed, size }, origin, nowMilliseconds) }),
        ...(request.model === REVISING_MODEL && {
          revised_prompt: `${magic.prose}, as a gradient between two colours`,
        }),
      }
    })
    return { kind: 'json', body: { created: Math.floor(nowMilliseconds / 1000), data } }
  },
}

function sizeOf({ size }: ImagesRequest): ImageSize {
  const [width, height] = (size ?? SIZE_DEFAULT).split('x').map(Number)
  return { width: width ?? 0, height: height ?? 0 }
}

function refuseBySize(request: ImagesRequest): void {
  const { width, height } = sizeOf(request)
  if ([width, height].some((side) => side < 1 || side > SIDE_MAX)) {
    throw invalidParameter(`'${request.size}' is not a size of this model.`, 'size', 'invalid_value')
  }
}

function refuseByModel(request: ImagesRequest): void {
  const rules = MODELS.get(request.model)
  if (rules === undefined) {
    return
  }
  if (!rules.sizes.includes(request.size ?? SIZE_DEFAULT)) {
    throw invalidParameter(`Supported values are: ${rules.sizes.join(', ')}.`, 'size', 'invalid_value')
  }
  if ((request.n ?? 1) > rules.n) {
    throw invalidParameter(`You must provide n=1 to ${rules.n} for this model.`, 'n', 'invalid_value')
  }
  if (!rules.qualities.includes(request.quality ?? 'standard')) {
    throw invalidParameter(`Supported values are: ${rules.qualities.join(', ')}.`, 'quality', 'invalid_value')
  }
  if ([...request.prompt].length > rules.promptCharactersMax) {
    const message = `Expected a string with at most ${rules.promptCharactersMax} characters.`
    throw invalidParameter(message, 'prompt', 'string_above_max_length')
  }
}
