import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { listedFields } from '#core/allowed-fields.ts'
import { type ImageRequest, imageRequestBody, parseImageRequest } from '#core/api/image-request.ts'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { type GatewayConfig, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { ModelNotFoundError } from '#core/errors.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

function parse(body: unknown, allowedModels: readonly string[] | null = null) {
  return parseImageRequest(body, { catalogue: shippedCatalogue, allowedModels })
}

const v3 = (members: object = {}) => parse({ model: 'image-v3', prompt: 'a fox', ...members })
const v2 = (members: object = {}) => parse({ model: 'image-v2', prompt: 'a fox', ...members })

describe('parseImageRequest: a request', () => {
  it('has the documented defaults', () => {
    expect(v3()).toMatchObject({ model: { id: 'image-v3' }, count: 1, size: '1024x1024', quality: 'standard' })
    expect(v2()).toMatchObject({ model: { id: 'image-v2' }, count: 1, size: '1024x1024', quality: undefined })
  })

  it.each(['1024x1024', '1792x1024', '1024x1792'])('to image-v3 may have size %s', (size) => {
    expect(v3({ size }).size).toBe(size)
  })

  it.each(['256x256', '512x512', '1024x1024'])('to image-v2 may have size %s', (size) => {
    expect(v2({ size }).size).toBe(size)
  })

  it.each(['standard', 'hd'])('to image-v3 may have quality %s', (quality) => {
    expect(v3({ quality }).quality).toBe(quality)
  })

  it.each(['vivid', 'natural'])('to image-v3 may have style %s', (style) => {
    expect(() => v3({ style })).not.toThrow()
  })

  it.each(['url', 'b64_json'])('may have response format %s', (response_format) => {
    expect(() => v2({ response_format, user: 'u', extra: [1] })).not.toThrow()
  })

  it.each(['png', 'jpeg', 'webp'])('may choose how its file is written, which has no price (%s)', (output_format) => {
    const chosen = { output_format, output_compression: 80, background: 'opaque', moderation: 'low' }
    const image = v2(chosen)
    const call = { upstreamModel: 'up', image, allowed: listedFields('images') }
    const { text, ignored } = imageRequestBody(JSON.stringify({ model: 'image-v2', prompt: 'a', ...chosen }), call)
    expect(ignored).toStrictEqual([])
    expect(JSON.parse(text)).toMatchObject(chosen)
    expect(image).toStrictEqual(v2())
  })

  it.each([
    ['gif', 'several frames'],
    ['svg', 'another model'],
  ])('may not ask for a %s, which takes %s', (output_format) => {
    expect(issuesOf(() => v2({ output_format }))).toStrictEqual([
      { path: 'output_format', message: '`output_format` must be png, jpeg or webp' },
    ])
  })

  it.each([1, 2, 10])('to image-v2 may ask for %d images', (n) => {
    expect(v2({ n }).count).toBe(n)
  })

  it.each([
    [{ size: 'auto' }, { size: '1024x1024' }],
    [{ size: '1536x1024' }, { size: '1792x1024' }],
    [{ size: '1024x1536' }, { size: '1024x1792' }],
    [{ quality: 'auto' }, { quality: 'standard' }],
    [{ quality: 'low' }, { quality: 'standard' }],
    [{ quality: 'medium' }, { quality: 'standard' }],
    [{ quality: 'high' }, { quality: 'hd' }],
  ])('to image-v3 with %j, a name of current models, is one with %j, upstream and in the price', (current, own) => {
    expect(v3(current)).toStrictEqual(v3(own))
    const call = { upstreamModel: 'up', image: v3(current), allowed: listedFields('images') }
    const { text } = imageRequestBody(JSON.stringify({ model: 'image-v3', prompt: 'a', ...current }), call)
    expect(JSON.parse(text)).toMatchObject(own)
  })

  it.each([
    [{}, 'medium'],
    [{ quality: 'auto' }, 'medium'],
    [{ quality: 'standard' }, 'medium'],
    [{ quality: 'hd' }, 'high'],
    [{ quality: 'low' }, 'low'],
  ])('to a model of the current names with %j has quality %s', (asked, quality) => {
    const models = shippedCatalogue.config.models.map((model) =>
      model.id === 'image-v3' ? { ...model, qualities: ['low', 'medium', 'high'], prices: [{ price: '0.1' }] } : model,
    )
    const catalogue = createCatalogue(gatewayConfigSchema.parse({ ...shippedCatalogue.config, models }))
    const body = { model: 'image-v3', prompt: 'a fox', ...asked }
    expect(parseImageRequest(body, { catalogue, allowedModels: null }).quality).toBe(quality)
  })

  it('to image-v2 with the lower qualities of current models is one with the only quality that it has', () => {
    expect(v2({ quality: 'low', size: 'auto' })).toStrictEqual(v2())
  })

  it('to image-v2 may repeat the documented defaults, which change nothing', () => {
    expect(v2({ quality: 'standard', style: 'vivid' })).toStrictEqual(v2())
  })

  it('takes null for what is not set', () => {
    const unset = { n: null, size: null, quality: null, style: null, response_format: null, user: null, stream: null }
    expect(v3(unset)).toStrictEqual(v3())
    expect(v2(unset)).toStrictEqual(v2())
  })

  it.each([
    ['image-v3', { prompt: undefined }, 'prompt', '`prompt` is required and must be a string'],
    ['image-v3', { prompt: ['a'] }, 'prompt', '`prompt` must be a string'],
    ['image-v3', { prompt: '' }, 'prompt', '`prompt` must not be empty'],
    ['image-v3', { prompt: ' \n\t' }, 'prompt', '`prompt` must not be empty'],
    ['image-v3', { n: 2 }, 'n', '`n` must be 1 for image-v3'],
    ['image-v2', { n: 11 }, 'n', '`n` must be from 1 to 10 for image-v2'],
    ['image-v2', { n: 0 }, 'n', '`n` must be an integer of 1 or more'],
    ['image-v2', { n: 1.5 }, 'n', '`n` must be an integer of 1 or more'],
    ['image-v2', { n: '1' }, 'n', '`n` must be an integer of 1 or more'],
    ['image-v3', { size: '512x512' }, 'size', '`size` must be one of 1024x1024, 1792x1024, 1024x1792 for image-v3'],
    ['image-v2', { size: '1792x1024' }, 'size', '`size` must be one of 256x256, 512x512, 1024x1024 for image-v2'],
    ['image-v2', { size: 512 }, 'size', '`size` must be a string such as 1024x1024'],
    ['image-v3', { quality: 'best' }, 'quality', '`quality` must be one of standard, hd for image-v3'],
    ['image-v3', { size: '1536x1536' }, 'size', '`size` must be one of 1024x1024, 1792x1024, 1024x1792 for image-v3'],
    ['image-v2', { size: '1536x1024' }, 'size', '`size` must be one of 256x256, 512x512, 1024x1024 for image-v2'],
    ['image-v2', { quality: 'high' }, 'quality', '`quality` must be standard for image-v2'],
    ['image-v3', { quality: 1 }, 'quality', '`quality` must be a string'],
    ['image-v2', { quality: 'hd' }, 'quality', '`quality` must be standard for image-v2'],
    ['image-v3', { style: 'Vivid' }, 'style', '`style` must be one of vivid, natural for image-v3'],
    ['image-v3', { style: true }, 'style', '`style` must be a string'],
    ['image-v2', { style: 'natural' }, 'style', '`style` must be vivid for image-v2'],
    ['image-v2', { response_format: 'png' }, 'response_format', '`response_format` must be url or b64_json'],
    ['image-v2', { user: 5 }, 'user', '`user` must be a string'],
    ['image-v2', { stream: true }, 'stream', '`stream` must be false or left out: images are not streamed'],
  ])('to %s with %j is refused', (model, members, path, message) => {
    const action = () => parse({ model, prompt: 'a fox', ...members })
    expect(issuesOf(action)).toContainEqual({ path, message })
  })

  it('to image-v3 has at most 4,000 characters, where an emoji is one', () => {
    const message = '`prompt` must be at most 4000 characters for image-v3'
    for (const character of ['a', '漢', '🦊']) {
      expect(() => v3({ prompt: character.repeat(4000) })).not.toThrow()
      for (const length of [4001, 8001, 100_000]) {
        const prompt = character.repeat(length)
        expect(issuesOf(() => v3({ prompt }))).toStrictEqual([{ path: 'prompt', message }])
      }
    }
    expect(() => v2({ prompt: 'a'.repeat(4001) })).not.toThrow()
  })

  it.each([[], null, 'text', 5].map((body) => [body]))('that is %j is no object', (body) => {
    expect(issuesOf(() => parse(body))[0]).toStrictEqual({ path: '', message: 'the body must be a JSON object' })
  })

  it('hears all that has to be mended at once, without its prompt', () => {
    const issues = issuesOf(() => v3({ prompt: 'secret'.repeat(1000), n: 3, size: '1x1', quality: 'q', style: 's' }))
    expect(issues.map(({ path }) => path)).toStrictEqual(['prompt', 'size', 'quality', 'style', 'n'])
    expect(JSON.stringify(issues)).not.toContain('secret')
  })
})

describe('parseImageRequest, asked for a model that is', () => {
  it.each([
    ['unknown', 'image-v9', null],
    ['not allowed', 'image-v3', ['image-v2']],
    ['of another kind', 'text-embedding-3-small', null],
  ])('%s is not found', (_, model, allowed) => {
    expect(() => parse({ model, prompt: 'a fox' }, allowed)).toThrow(ModelNotFoundError)
  })
})

describe('the default size of parseImageRequest', () => {
  it('is the last and largest of a model without the usual one', () => {
    const model = { id: 'small', kind: 'image', billing: 'per_image', sizes: ['64x64', '128x128'], n: { max: 1 } }
    const config: GatewayConfig = gatewayConfigSchema.parse({
      channels: [],
      models: [{ ...model, qualities: ['hd'], prices: [{ price: '1' }] }],
    })
    const context = { catalogue: createCatalogue(config), allowedModels: null }
    expect(parseImageRequest({ model: 'small', prompt: 'a fox' }, context)).toMatchObject({
      size: '128x128',
      quality: 'hd',
    })
  })
})

/** What an upstream gets where its channel adds nothing to the list. */
function sentBody(text: string, upstreamModel: string, image: ImageRequest): string {
  return imageRequestBody(text, { upstreamModel, image, allowed: listedFields('images') }).text
}

describe('imageRequestBody', () => {
  it('says everything that has a price, after what the client wrote', () => {
    const text = '{ "model" : "image-v3", "prompt": "a \\u0066ox", "user": "u\\u0031" }'
    expect(sentBody(text, 'upstream-3', parse(JSON.parse(text)))).toBe(
      '{ "model" : "upstream-3", "prompt": "a \\u0066ox", "user": "u\\u0031","n":1,"size":"1024x1024","quality":"standard" }',
    )
  })

  it('has no quality for a model without', () => {
    const text = '{"model":"image-v2","prompt":"a fox","n":2,"size":"256x256","response_format":"b64_json"}'
    expect(sentBody(text, 'upstream-2', parse(JSON.parse(text)))).toBe(
      '{"model":"upstream-2","prompt":"a fox","n":2,"size":"256x256","response_format":"b64_json"}',
    )
  })

  it('leaves what a model without qualities and styles has no word for out, and every other byte as it came', () => {
    const text =
      '{"quality":"standard" , "model":"image-v2","prompt":"a fox","sty\\u006ce":"vivid", "user": "u\\u0031","n":1 }'
    expect(sentBody(text, 'upstream-2', parse(JSON.parse(text)))).toBe(
      '{ "model":"upstream-2","prompt":"a fox", "user": "u\\u0031","n":1,"size":"1024x1024" }',
    )
    expect(sentBody('{"model":"image-v3","style":"vivid"}', 'upstream-3', v3())).toContain('"style":"vivid"')
  })

  it('says each priced field once, however often a client repeats it', () => {
    const text = '{"n":10,"model":"image-v2","prompt":"a fox","n":1,"size":"1024x1024","size":"256x256"}'
    expect(sentBody(text, 'u', parse(JSON.parse(text)))).toBe('{"model":"u","prompt":"a fox","n":1,"size":"256x256"}')
  })

  it('asks for what was priced, whatever else the client sends', () => {
    const sizes = fc.constantFrom('256x256', '512x512', '1024x1024', null)
    const extras = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue())
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 10 }), extras, (size, n, extra) => {
        const body = { ...extra, model: 'image-v2', prompt: 'a fox', n, size, response_format: 'url' }
        const request = parse(body)
        const sent = parseJsonText(sentBody(JSON.stringify(body), 'u', request))
        expect(sent).toStrictEqual({ model: 'u', prompt: 'a fox', n, size: request.size, response_format: 'url' })
      }),
    )
  })
})
