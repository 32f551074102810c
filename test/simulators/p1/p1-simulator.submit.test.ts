import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'
import { textToVideo, withP1 } from './p1-client.ts'

const fixtures = readFixtures('p1')
const bodyOf = (name: string) => fixtures.get(name)?.body
const withoutId = (body: unknown) => ({ ...Object(body), request_id: undefined })

describe('P1 submit', () => {
  it.each(['submit_t2v', 'submit_i2v', 'submit_r2v', 'submit_video_edit'])(
    'accepts the request of %s and answers in its shape',
    async (name) => {
      await withP1({}, async ({ submit }) => {
        const answer = await submit(fixtures.get(name)?.request)
        expect(answer.status).toBe(200)
        expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf(name)))
        expect(at(answer.body, 'output', 'task_status')).toBe('PENDING')
      })
    },
  )

  it.each([
    ['[refuse]', 'err_400_param'],
    ['[refuse:moderated]', 'err_400_inspection'],
    ['[refuse:download]', 'err_415_download'],
    ['[unauthorized]', 'err_401_key'],
    ['[arrears]', 'err_400_arrearage'],
    ['[not-open]', 'err_403_unpurchased'],
    ['[no-model]', 'err_404_model'],
    ['[busy:always]', 'err_429_rate'],
    ['[busy:quota]', 'err_429_allocation'],
    ['[error:500]', 'err_500'],
    ['[error:503]', 'err_503'],
  ])('refuses %s as %s', async (prompt, name) => {
    await withP1({}, async ({ submit }) => {
      const answer = await submit(textToVideo(`a cat ${prompt}`))
      expect(answer.status).toBe(fixtures.get(name)?.status)
      expect(withoutId(answer.body)).toEqual(withoutId(bodyOf(name)))
    })
  })

  it('is refused without the header for asynchronous mode, whatever its name', async () => {
    await withP1({ asyncHeader: 'X-Other-Async' }, async ({ submit }) => {
      const answer = await submit(textToVideo('a cat'), { 'x-provider-async': 'enable' })
      expect(answer.status).toBe(403)
      expect(withoutId(answer.body)).toEqual(withoutId(bodyOf('err_403_sync')))
      expect((await submit(textToVideo('a cat'), { 'x-other-async': 'enable' })).status).toBe(200)
    })
  })

  it('takes only the key it was given', async () => {
    await withP1({ apiKey: 'RIGHT' }, async ({ submit, simulator }) => {
      const wrong = await submit(textToVideo('a cat'))
      expect([wrong.status, withoutId(wrong.body)]).toEqual([401, withoutId(bodyOf('err_401_key'))])
      const headers = { authorization: 'Bearer RIGHT' }
      expect((await call(simulator, '/api/v1/tasks/none', { headers })).status).toBe(200)
    })
  })

  it.each([
    [
      'ratio on i2v',
      'famB-1.1-i2v',
      [{ type: 'first_frame', url: 'https://in.example.test/a.png' }],
      { ratio: '16:9' },
    ],
    [
      'ratio on an edit',
      'famB-1.0-video-edit',
      [{ type: 'video', url: 'https://in.example.test/a.mp4' }],
      { ratio: '16:9' },
    ],
    [
      'duration on an edit',
      'famB-1.0-video-edit',
      [{ type: 'video', url: 'https://in.example.test/a.mp4' }],
      { duration: 5 },
    ],
    ['an edit without a video', 'famB-1.0-video-edit', [], {}],
    ['media on t2v', 'famB-1.1-t2v', [{ type: 'first_frame', url: 'https://in.example.test/a.png' }], {}],
    [
      'two first frames',
      'famB-1.1-i2v',
      Array(2).fill({ type: 'first_frame', url: 'https://in.example.test/a.png' }),
      {},
    ],
    [
      'ten references',
      'famB-1.1-r2v',
      Array(10).fill({ type: 'reference_image', url: 'https://in.example.test/a.png' }),
      {},
    ],
    ['no reference', 'famB-1.1-r2v', [], {}],
    ['480P on the 1.0 line', 'famB-1.0-t2v', undefined, { resolution: '480P' }],
    ['a lower-case resolution', 'famB-1.1-t2v', undefined, { resolution: '720p' }],
    ['16 seconds', 'famB-1.1-t2v', undefined, { duration: 16 }],
    ['an unknown parameter', 'famB-1.1-t2v', undefined, { generate_audio: true }],
  ])('refuses %s', async (_name, model, media, parameters) => {
    await withP1({}, async ({ submit }) => {
      const input = { prompt: 'a cat', ...(media !== undefined && { media }) }
      const answer = await submit({ model, input, parameters })
      expect([answer.status, at(answer.body, 'code')]).toEqual([400, 'InvalidParameter'])
    })
  })

  it('does not know a model of another kind', async () => {
    await withP1({}, async ({ submit }) => {
      const answer = await submit({ ...textToVideo('a cat'), model: 'famA-2' })
      expect([answer.status, at(answer.body, 'code')]).toEqual([404, 'ModelNotFound'])
    })
  })

  it('accepts a [busy] prompt the second time', async () => {
    await withP1({}, async ({ submit }) => {
      const statuses = [
        await submit(textToVideo('[busy] a')),
        await submit(textToVideo('[busy] b')),
        await submit(textToVideo('[busy] a')),
      ]
      expect(statuses.map((answer) => answer.status)).toEqual([429, 429, 200])
    })
  })
})
