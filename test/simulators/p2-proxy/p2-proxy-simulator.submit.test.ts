import { describe, expect, it } from 'vitest'
import { proxyBody, withProxy } from '../p2/p2-client.ts'
import { shapeOf } from '../shared/shape-of.ts'
import { at, call, readFixtures } from '../shared/simulator-client.ts'

const fixtures = readFixtures('p2-proxy')
const bodyOf = (name: string) => fixtures.get(name)?.body

describe('proxy submit', () => {
  it('accepts the flat request and answers in its shape', async () => {
    await withProxy({}, async ({ submit }) => {
      const answer = await submit(fixtures.get('submit')?.request)
      expect(answer.status).toBe(200)
      expect(shapeOf(answer.body)).toEqual(shapeOf(bodyOf('submit')))
      expect([at(answer.body, 'object'), at(answer.body, 'status')]).toEqual(['video.generation.task', 'pending'])
    })
  })

  it.each([
    ['[unauthorized]', 'err_401'],
    ['[arrears]', 'err_402'],
    ['[busy:always]', 'err_429'],
  ])('refuses %s as %s', async (prompt, name) => {
    await withProxy({}, async ({ submit }) => {
      const answer = await submit(proxyBody(prompt))
      expect([answer.status, answer.body]).toEqual([fixtures.get(name)?.status, bodyOf(name)])
    })
  })

  it.each([
    ['[not-open]', 503],
    ['[no-model]', 503],
    ['[busy:overloaded]', 503],
    ['[busy:quota]', 429],
    ['[refuse]', 400],
    ['[refuse:moderated]', 400],
    ['[refuse:download]', 400],
    ['[refuse:person]', 400],
    ['[error:500]', 500],
    ['[error:503]', 503],
    ['[error:404]', 404],
  ])('refuses %s with %i and an error object', async (prompt, status) => {
    await withProxy({}, async ({ submit }) => {
      const answer = await submit(proxyBody(prompt))
      expect(answer.status).toBe(status)
      expect(Object.keys(Object(at(answer.body, 'error')))).toEqual(['message', 'type', 'param', 'code'])
    })
  })

  it('has no channel for a model that it does not know', async () => {
    await withProxy({}, async ({ submit }) => {
      const answer = await submit(proxyBody('a cat', { model: 'famA-9' }))
      expect([answer.status, shapeOf(answer.body)]).toEqual([503, shapeOf(bodyOf('err_503'))])
    })
  })

  it.each([
    ['an unknown member', { fps: 24 }],
    ['audio references', { audio_urls: ['https://in.example.test/a.mp3'] }],
    ['1080p on the fast line', { model: 'famA-2-fast', resolution: '1080p' }],
    ['3 seconds on 2.x', { duration: 3 }],
    ['ten images', { image_urls: Array(10).fill('https://in.example.test/a.png') }],
    ['no prompt', { prompt: undefined }],
  ])('refuses %s', async (_name, more) => {
    await withProxy({}, async ({ submit }) => {
      expect((await submit(proxyBody('a cat', more))).status).toBe(400)
    })
  })

  it.each([
    ['one image', { image_urls: ['https://in.example.test/a.png'] }],
    ['nine images', { image_urls: Array(9).fill('https://in.example.test/a.png') }],
    ['a wish for sound on 1.x', { model: 'famA-1-pro', generate_audio: false }],
  ])('accepts %s', async (_name, more) => {
    await withProxy({}, async ({ submit }) => {
      expect((await submit(proxyBody('a cat', more))).status).toBe(200)
    })
  })

  it('takes only the key it was given, and knows its paths', async () => {
    await withProxy({ apiKey: 'RIGHT' }, async ({ submit, simulator }) => {
      expect((await submit(proxyBody('a cat'))).body).toEqual(bodyOf('err_401'))
      expect((await call(simulator, '/v1/other', { headers: { authorization: 'Bearer RIGHT' } })).status).toBe(404)
    })
  })
})
