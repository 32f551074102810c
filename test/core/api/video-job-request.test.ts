import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type * as z from 'zod'
import { endpointsOfKind } from '#core/api/paths.ts'
import {
  ignoredVideoFields,
  imageReference,
  isImageReference,
  linkReference,
  offerVideoJob,
  PROMPT_UNITS_MAX,
  parseVideoJobRequest,
  promptUnits,
  readIdempotencyKey,
  videoJobBodySchema,
  videoQuote,
} from '#core/api/video-job-request.ts'
import type { Budget } from '#core/budgets.ts'
import { ASPECT_RATIOS } from '#core/catalogue/parameters.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { estimateVideoLine } from '#core/pricing/video-cost.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'
import { MODEL_ROWS, urls } from '../interface-tables.ts'
import { issuesOf, shippedCatalogue } from '../shipped-catalogue.ts'

function parse(members: object, model = 'famA-2') {
  return parseVideoJobRequest({ model, prompt: 'a paper city', ...members }, context)
}

const context = { catalogue: shippedCatalogue, allowedModels: null }

const UNKNOWN_MODEL = {
  path: 'model',
  message: '`model` is unknown: GET /v1/models lists the models that this key may use',
}

describe('parseVideoJobRequest', () => {
  it('needs a model and a prompt, and says both at once', () => {
    expect(issuesOf(() => parseVideoJobRequest({}, context))).toStrictEqual([
      { path: 'model', message: '`model` is required and must be a string: the id of a video model' },
      { path: 'prompt', message: '`prompt` is required and must be a string' },
    ])
  })

  it('tells a model of another kind its routes, if the key may use it', () => {
    const ask = (allowedModels: readonly string[] | null) =>
      issuesOf(() => parseVideoJobRequest({ model: 'chat-default', prompt: 'x' }, { ...context, allowedModels }))
    const routes = endpointsOfKind('chat')
      .map(({ path }) => `POST ${path}`)
      .join(', ')
    const message = `the model chat-default is of the kind chat: use ${routes}`
    expect(ask(null)).toStrictEqual([{ path: 'model', message }])
    expect(ask(['famA-2'])).toStrictEqual([UNKNOWN_MODEL])
  })

  it('names the nearest model that the key may use', () => {
    const ask = (model: string, allowedModels: readonly string[] | null = null) =>
      issuesOf(() => parseVideoJobRequest({ model, prompt: 'x' }, { ...context, allowedModels }))
    expect(ask('famB-1.1-tv2')).toStrictEqual([
      {
        path: 'model',
        message: '`model` is unknown: did you mean famB-1.1-t2v? GET /v1/models lists the models that this key may use',
      },
    ])
    expect(ask('famB-1.1-tv2', ['famA-2'])).toStrictEqual([UNKNOWN_MODEL])
    expect(ask('chat-defalt')).toStrictEqual([UNKNOWN_MODEL])
  })

  it('names a callback_url that is not allowed beside whatever else is wrong', () => {
    const callback_url = 'https://elsewhere.example.com/'
    const message = '`callback_url` must have a host on the allowlist of the gateway: ask its operator to add the host'
    const callback = { path: 'callback_url', message }
    expect(issuesOf(() => parseVideoJobRequest({ callback_url }, context))).toStrictEqual([
      { path: 'model', message: '`model` is required and must be a string: the id of a video model' },
      { path: 'prompt', message: '`prompt` is required and must be a string' },
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

  it('reads one request in whatever order its fields come', () => {
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

  it('reads or refuses a body, whatever it holds, and never refuses in the words of a library', () => {
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

describe('videoJobBodySchema', () => {
  const parse = (fields: object) => videoJobBodySchema.parse({ model: 'famA-2', prompt: 'a paper city', ...fields })

  /** The first issue of each field of a body that is refused, as a client sees them; none of a body that is not. */
  function refusalOf(read: () => unknown) {
    try {
      read()
    } catch (error) {
      const issues = (error as z.ZodError).issues.map(({ path, message }) => ({ path: path.join('.'), message }))
      return issues.filter(({ path }, index) => issues.findIndex((each) => each.path === path) === index)
    }
    return []
  }

  describe('duration', () => {
    it.each([
      ['3', 3],
      ['15', 15],
      ['1e1', 10],
      ['5.0', 5],
    ])('%s is %i seconds', (json, seconds) => {
      expect(parse(JSON.parse(`{"duration":${json}}`)).duration).toBe(seconds)
    })

    it.each([
      '2',
      '16',
      '5.5',
      '2.5',
      '"5"',
      'null',
      '-0',
      '0',
      '-5',
      '1e400',
      'true',
      '[5]',
      '{}',
      '99999999999999999999',
    ])('%s is refused in one sentence', (json) => {
      const message = '`duration` must be an integer from 3 to 15, in seconds'
      expect(refusalOf(() => parse(JSON.parse(`{"duration":${json}}`)))).toStrictEqual([{ path: 'duration', message }])
    })
  })

  describe('resolution', () => {
    it.each(['480p', '480P', '1080p', '720P'])('%s is taken in any case and kept in capitals', (resolution) => {
      expect(parse({ resolution }).resolution).toBe(resolution.toUpperCase())
    })

    it.each([' 720P', '720P ', '720', '4K', '', '720\uff30', null, 720, ['720P']])('%j is refused', (resolution) => {
      const message = '`resolution` must be one of 480P, 720P, 1080P'
      expect(refusalOf(() => parse({ resolution }))).toStrictEqual([{ path: 'resolution', message }])
    })
  })

  describe('aspect_ratio', () => {
    it.each(ASPECT_RATIOS)('%s is taken', (aspect_ratio) => {
      expect(parse({ aspect_ratio }).aspect_ratio).toBe(aspect_ratio)
    })

    it.each(['16x9', '2:1', '16:9 ', '', null, 1])('%j is refused', (aspect_ratio) => {
      const message = '`aspect_ratio` must be one of 16:9, 9:16, 1:1, 4:3, 3:4, 4:5, 5:4, 9:21, 21:9'
      expect(refusalOf(() => parse({ aspect_ratio }))).toStrictEqual([{ path: 'aspect_ratio', message }])
    })
  })

  describe('generate_audio, watermark and fps', () => {
    it.each([
      { generate_audio: false },
      { generate_audio: true },
      { watermark: false },
      { watermark: true },
      { fps: 1 },
      { fps: 24 },
      { fps: 240 },
    ])('%j is kept as it came', (members) => {
      expect(parse(members)).toMatchObject(members)
    })

    it.each([
      ['generate_audio', 'true', '`generate_audio` must be true or false'],
      ['generate_audio', 1, '`generate_audio` must be true or false'],
      ['generate_audio', null, '`generate_audio` must be true or false'],
      ['watermark', 0, '`watermark` must be true or false'],
      ['watermark', null, '`watermark` must be true or false'],
      ['fps', 0, '`fps` must be an integer from 1 to 240'],
      ['fps', 241, '`fps` must be an integer from 1 to 240'],
      ['fps', 23.976, '`fps` must be an integer from 1 to 240'],
      ['fps', '24', '`fps` must be an integer from 1 to 240'],
    ])('%s %j is refused', (path, value, message) => {
      expect(refusalOf(() => parse({ [path]: value }))).toStrictEqual([{ path, message }])
    })
  })

  describe('prompt', () => {
    it.each([
      ['2500 Han characters', '纸'.repeat(2500)],
      ['5000 Latin characters', 'a'.repeat(5000)],
      ['5000 emoji', '😀'.repeat(5000)],
      ['a mixture of exactly the limit', '纸'.repeat(1250) + 'a'.repeat(2500)],
    ])('may hold %s', (_, prompt) => {
      expect(parse({ prompt }).prompt).toBe(prompt)
    })

    it.each([
      ['2501 Han characters', '纸'.repeat(2501)],
      ['5001 Latin characters', 'a'.repeat(5001)],
      ['5001 emoji', '😀'.repeat(5001)],
      ['a mixture one above the limit', '纸'.repeat(1250) + 'a'.repeat(2501)],
      ['four million characters', 'a'.repeat(4_000_000)],
    ])('is too long with %s', (_, prompt) => {
      expect(refusalOf(() => parse({ prompt }))).toStrictEqual([
        { path: 'prompt', message: expect.stringMatching(/^`prompt` must be at most 5000 characters/) },
      ])
    })

    it.each(['', ' ', '\n\t ', '\u3000'])('%j is blank and refused', (prompt) => {
      expect(refusalOf(() => parse({ prompt }))).toStrictEqual([
        { path: 'prompt', message: '`prompt` must not be empty' },
      ])
    })

    it.each(['a\ud800', '\udc00a', '\ude00\ud83d'])('%j is no string and refused', (prompt) => {
      const message = '`prompt` must be valid Unicode: it contains half of a surrogate pair'
      expect(refusalOf(() => parse({ prompt }))).toStrictEqual([{ path: 'prompt', message }])
    })

    it.each([null, 5, ['a'], { text: 'a' }])('%j is no string and refused', (prompt) => {
      expect(refusalOf(() => parse({ prompt }))).toStrictEqual([
        { path: 'prompt', message: '`prompt` must be a string' },
      ])
    })

    it('keeps spaces and line breaks as they came', () => {
      expect(parse({ prompt: '  a\n b ' }).prompt).toBe('  a\n b ')
    })
  })

  describe('a body of', () => {
    it.each([null, [], [{ model: 'famA-2', prompt: 'x' }], 'text', 5, true, undefined])('%j is refused', (body) => {
      const message = 'the body must be a JSON object'
      expect(refusalOf(() => videoJobBodySchema.parse(body))).toStrictEqual([{ path: '', message }])
    })
  })

  describe('ignoredVideoFields', () => {
    it.each([
      [{ model: 'm', prompt: 'p', seed: 1, toString: 2 }, ['seed', 'toString']],
      [{ model: 'm' }, []],
      [{ image_url: 'a' }, []],
      [{ image_url: 'a', image_urls: [] }, []],
      [{ image_url: 'a', image_urls: ['b'] }, ['image_url']],
      [{ image_url: '', image_urls: ['b'] }, []],
      [['seed'], []],
      [null, []],
    ])('of %j are %j', (body, names) => {
      expect(ignoredVideoFields(body)).toEqual(names)
    })
  })
})

describe('promptUnits', () => {
  it.each([
    ['', 0],
    ['a paper city', 12],
    ['é', 1],
    ['e\u0301', 2],
    ['纸城', 4],
    ['〇々', 4],
    ['𠀀', 2],
    ['ひらがなカタカナー', 18],
    ['ｱｲｳﾞ', 8],
    ['한국어', 6],
    ['ㄱ', 2],
    ['ＡＢ！￥', 8],
    ['\u3000', 2],
    ['。', 1],
    ['жизнь', 5],
    ['😀', 1],
    ['👩‍👩‍👧', 5],
    ['\ud800', 1],
    ['a\n b', 4],
    ['a 纸 b', 6],
  ])('counts %j as %d', (text, units) => {
    expect(promptUnits(text)).toBe(units)
  })

  it('lets 2500 Han characters or 5000 others fit exactly', () => {
    expect(promptUnits('纸'.repeat(2500))).toBe(PROMPT_UNITS_MAX)
    expect(promptUnits('a'.repeat(5000))).toBe(PROMPT_UNITS_MAX)
    expect(promptUnits(`${'纸'.repeat(2499)}ab`)).toBe(PROMPT_UNITS_MAX)
  })

  it('keeps no state between calls', () => {
    expect([promptUnits('纸'), promptUnits('纸')]).toStrictEqual([2, 2])
  })
})

describe('a reference to a video, audio or image', () => {
  it.each(['https://media.example.com/a.png', 'http://127.0.0.1:9400/a?b=c', 'https://example.com/é'])(
    'may be the link %s',
    (url) => {
      expect(linkReference.safeParse(url).success).toBe(true)
      expect(isImageReference(url)).toBe(true)
    },
  )

  it.each([
    '',
    'ftp://example.com/a',
    'https://',
    'https://example.com/a b',
    'https://[',
    `https://a.com/${'a'.repeat(8192)}`,
  ])('must be a link, unlike %.40j', (url) => {
    expect(linkReference.safeParse(url).success).toBe(false)
    expect(imageReference.safeParse(url).success).toBe(false)
  })

  it('to an image may be the image itself', () => {
    expect(isImageReference('data:image/png;base64,AAAA')).toBe(true)
    expect(isImageReference('data:text/html;base64,AAAA')).toBe(false)
    expect(linkReference.safeParse('data:image/png;base64,AAAA').success).toBe(false)
  })
})

describe('readIdempotencyKey', () => {
  it('takes a missing header for none', () => {
    expect(readIdempotencyKey(undefined)).toBeUndefined()
  })

  it.each(['a', ' a b ', 'ü', 'k'.repeat(255)])('keeps %j as it came', (header) => {
    expect(readIdempotencyKey(header)).toBe(header)
  })

  it.each(['', 'k'.repeat(256)])('refuses %j, and says how long it may be', (header) => {
    const message = 'the Idempotency-Key header must have 1 to 255 characters'
    expect(issuesOf(() => readIdempotencyKey(header))).toStrictEqual([{ path: 'Idempotency-Key', message }])
  })
})

const catalogue = testCatalogue()
const BODY = { model: PER_SECOND_MODEL, prompt: 'a boat', duration: 5 }

describe('offerVideoJob', () => {
  it('prices a valid request at what a create reserves', () => {
    const { request, line, tier } = offerVideoJob(BODY, { catalogue, allowedModels: null })
    const model = catalogue.findVideoModel(PER_SECOND_MODEL)
    expect(model && line.amount).toBe(model && estimateVideoLine(request, model).amount)
    expect([line.quantity, line.unit, tier.videoInput]).toEqual(['5', 'second', false])
  })

  it.each([
    ['a wrong field', { ...BODY, duration: 500 }, null],
    ['a model that the key may not use', BODY, ['chat-default']],
    ['an unknown model', { ...BODY, model: 'nothing' }, null],
  ])('refuses %s', (_, body, allowedModels) => {
    expect(() => offerVideoJob(body, { catalogue, allowedModels })).toThrow(InvalidRequestError)
  })
})

const NOW = Date.parse('2026-11-22T10:00:00Z')
const ZERO = microcredits(0n)
const body = { model: PER_SECOND_MODEL, prompt: 'a boat', duration: 5 }
const offer = offerVideoJob(body, { catalogue: testCatalogue(), allowedModels: null })

function budget(left: string): Budget {
  const amount = parseCredits(left)
  return { amount, period: { kind: 'day', id: '2026-11-22' }, spent: ZERO, held: ZERO, left: amount, free: amount }
}

function quote(available: string, budgets: { key?: Budget; tenant?: Budget } = {}) {
  const balance = { available: parseCredits(available), held: ZERO, spent: ZERO, granted: parseCredits(available) }
  const key = { id: 'key1', name: null, models: null, expiresAt: null, budget: budgets.key ?? null }
  return videoQuote(offer, { balance, tenantBudget: budgets.tenant, key }, NOW)
}

describe('videoQuote', () => {
  it('shows the estimate with its lines and what is available', () => {
    expect(quote('10')).toEqual({
      object: 'video.quote',
      model: PER_SECOND_MODEL,
      estimate: '0.7',
      lines: [expect.objectContaining({ quantity: '5', unit: 'second', amount: '0.7' })],
      available: '10',
      affordable: true,
    })
  })

  it('is affordable with exactly the funds, and not a millionth below', () => {
    expect([quote('0.7').affordable, quote('0.699999').affordable]).toEqual([true, false])
  })

  it('is affordable only if the budgets of key and tenant have room too', () => {
    expect(quote('10', { key: budget('0.7'), tenant: budget('0.7') }).affordable).toBe(true)
    expect(quote('10', { key: budget('0.699999') }).affordable).toBe(false)
    expect(quote('10', { tenant: budget('0.699999') }).affordable).toBe(false)
  })
})
