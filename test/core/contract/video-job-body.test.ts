import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { unknownVideoFields, videoJobBodySchema } from '#core/contract/video-job-body.ts'
import { ASPECT_RATIOS } from '#core/parameters/video-parameters.ts'

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

describe('video-job-body: duration', () => {
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

describe('video-job-body: resolution', () => {
  it.each(['480p', '480P', '1080p', '720P'])('%s is taken in any case and kept in capitals', (resolution) => {
    expect(parse({ resolution }).resolution).toBe(resolution.toUpperCase())
  })

  it.each([' 720P', '720P ', '720', '4K', '', '720\uff30', null, 720, ['720P']])('%j is refused', (resolution) => {
    const message = '`resolution` must be one of 480P, 720P, 1080P'
    expect(refusalOf(() => parse({ resolution }))).toStrictEqual([{ path: 'resolution', message }])
  })
})

describe('video-job-body: aspect_ratio', () => {
  it.each(ASPECT_RATIOS)('%s is taken', (aspect_ratio) => {
    expect(parse({ aspect_ratio }).aspect_ratio).toBe(aspect_ratio)
  })

  it.each(['16x9', '2:1', '16:9 ', '', null, 1])('%j is refused', (aspect_ratio) => {
    const message = '`aspect_ratio` must be one of 16:9, 9:16, 1:1, 4:3, 3:4, 4:5, 5:4, 9:21, 21:9'
    expect(refusalOf(() => parse({ aspect_ratio }))).toStrictEqual([{ path: 'aspect_ratio', message }])
  })
})

describe('video-job-body: generate_audio, watermark and fps', () => {
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

describe('video-job-body: prompt', () => {
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
    expect(refusalOf(() => parse({ prompt }))).toStrictEqual([{ path: 'prompt', message: '`prompt` must be a string' }])
  })

  it('keeps spaces and line breaks as they came', () => {
    expect(parse({ prompt: '  a\n b ' }).prompt).toBe('  a\n b ')
  })
})

describe('video-job-body: the body', () => {
  it.each([null, [], [{ model: 'famA-2', prompt: 'x' }], 'text', 5, true, undefined])('%j is refused', (body) => {
    const message = 'the body must be a JSON object'
    expect(refusalOf(() => videoJobBodySchema.parse(body))).toStrictEqual([{ path: '', message }])
  })
})

describe('video-job-body: unknownVideoFields', () => {
  it.each([
    [{ model: 'm', prompt: 'p', seed: 1, toString: 2 }, ['seed', 'toString']],
    [{ model: 'm' }, []],
    [['seed'], []],
    [null, []],
  ])('of %j are %j', (body, names) => {
    expect(unknownVideoFields(body)).toEqual(names)
  })
})
