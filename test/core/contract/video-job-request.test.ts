import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseVideoJobRequest, UNKNOWN_MODEL } from '#core/contract/video-job-request.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { MODEL_ROWS, urls } from '../interface-tables.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

function parse(members: object, model = 'famA-2') {
  return parseVideoJobRequest({ model, prompt: 'a paper city', ...members }, context)
}

const context = { catalogue: shippedCatalogue, allowedModels: null }

describe('video-job-request: parseVideoJobRequest', () => {
  it('needs a model and a prompt, and says both at once', () => {
    expect(issuesOf(() => parseVideoJobRequest({}, context))).toStrictEqual([
      { path: 'model', message: '`model` must be a string: the id of a video model' },
      { path: 'prompt', message: '`prompt` must be a string' },
    ])
  })

  it('names a callback_url that is not allowed beside whatever else is wrong', () => {
    const callback_url = 'https://elsewhere.example.com/'
    const message = '`callback_url` must have a host on the allowlist of the gateway: ask its operator to add the host'
    const callback = { path: 'callback_url', message }
    expect(issuesOf(() => parseVideoJobRequest({ callback_url }, context))).toStrictEqual([
      { path: 'model', message: '`model` must be a string: the id of a video model' },
      { path: 'prompt', message: '`prompt` must be a string' },
      callback,
    ])
    expect(issuesOf(() => parse({ callback_url }, 'no-such-model'))).toStrictEqual([UNKNOWN_MODEL, callback])
    expect(issuesOf(() => parse({ callback_url, fps: 0 })).at(-1)).toStrictEqual(callback)
  })

  it('names the limits of the model beside what cannot be read', () => {
    const paths = (members: object, model?: string) => issuesOf(() => parse(members, model)).map(({ path }) => path)
    expect(paths({ prompt: ' ', duration: 11, resolution: '1080P' }, 'famA-1-lite')).toStrictEqual([
      'prompt',
      'duration',
      'resolution',
    ])
    expect(paths({ fps: 'x' }, 'no-such-model')).toStrictEqual(['fps', 'model'])
    expect(paths({ fps: 'x', image_urls: urls(2) }, 'famA-1-lite')).toStrictEqual(['fps', 'image_urls'])
  })

  it('says nothing of the number of references while one list of them cannot be read', () => {
    const members = { image_urls: ['no url'], audio_urls: urls(1), resolution: '1080P' }
    const paths = issuesOf(() => parse(members, 'famA-1-lite')).map(({ path }) => path)
    expect(paths).toStrictEqual(['image_urls.0', 'resolution'])
  })

  it('names every limit of the model that it breaks at once', () => {
    const members = {
      duration: 11,
      resolution: '1080P',
      image_urls: urls(2),
      callback_url: 'https://elsewhere.example.com/',
    }
    const paths = issuesOf(() => parse(members, 'famA-1-lite')).map(({ path }) => path)
    expect(paths).toStrictEqual(['duration', 'resolution', 'image_urls', 'callback_url'])
  })

  it('is one request in whatever order its members come', () => {
    const one = parse(JSON.parse('{"fps":24,"duration":6,"resolution":"480p"}'))
    const other = parse(JSON.parse('{"resolution":"480P","unknown":1,"duration":6.0,"fps":24,"image_url":""}'))
    expect(JSON.stringify(other)).toBe(JSON.stringify(one))
  })

  it('ignores unknown fields, dangerous names included', () => {
    const request = parse(
      JSON.parse('{"seed":1,"__proto__":{"duration":3},"constructor":1,"image_url":"","image_urls":[]}'),
    )
    expect(Object.keys(request)).not.toContain('seed')
    expect(request.duration).toBe(5)
    expect(Object.getPrototypeOf(request)).toBe(Object.prototype)
  })

  it('is read or refused, whatever it holds, and never refused in the words of a library', () => {
    const members = fc.record(
      {
        model: fc.oneof(fc.constantFrom(...MODEL_ROWS.map(({ id }) => id)), fc.anything()),
        prompt: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
        duration: fc.anything(),
        resolution: fc.anything(),
        aspect_ratio: fc.anything(),
        generate_audio: fc.anything(),
        watermark: fc.anything(),
        fps: fc.anything(),
        image_urls: fc.anything(),
        image_url: fc.anything(),
        video_urls: fc.anything(),
        audio_urls: fc.anything(),
        callback_url: fc.anything(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(members, fc.jsonValue()), (body) => {
        try {
          parseVideoJobRequest(body, context)
        } catch (error) {
          if (!(error instanceof InvalidRequestError)) {
            throw error
          }
          expect(error.issues.length).toBeGreaterThan(0)
          for (const { message } of error.issues) {
            expect(message).not.toMatch(/invalid (input|option)|too (big|small)|expected|received/i)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})
