import { describe, expect, it } from '@jest/globals'
import { sendJson, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { answerText, readFixture } from '../../upstream/providers/upstream-fixture.ts'

const operation = 'create-image'

const rig = useOpened(startRelayRig)

function answerWith(body: unknown, status = 200) {
  rig.upstreams[0]?.answerWith((response) => sendJson(response, body, status))
}

const images = (count: number) => ({
  created: 1,
  data: Array.from({ length: count }, () => ({ url: 'https://a.example/b' })),
})

describe('create-image 200', () => {
  it.each(['oai_images_url', 'oai_images_b64'])('%s: reaches the client byte for byte', async (name) => {
    const fixture = readFixture(name)
    answerWith(answerText(fixture))
    const { statusCode, text } = await rig.send(fixture.request.body, { operation })
    expect({ statusCode, text }).toStrictEqual({ statusCode: 200, text: answerText(fixture) })
  })

  it('sends everything that has a price, so that price and product agree', async () => {
    answerWith(images(1))
    await rig.send({ model: 'image-v3', prompt: 'a city' }, { operation })
    expect(rig.upstreams[0]?.calls.at(-1)?.body).toStrictEqual({
      model: 'upstream-image',
      prompt: 'a city',
      n: 1,
      size: '1024x1024',
      quality: 'standard',
    })
    await rig.send({ model: 'image-v2', prompt: 'a city', size: '256x256' }, { operation })
    expect(rig.upstreams[0]?.calls.at(-1)?.body).not.toHaveProperty('quality')
  })

  it('takes the defaults of quality and style for every model, and bills them like none', async () => {
    const { id, key } = await rig.tenant('1')
    answerWith(images(1))
    const defaults = { prompt: 'a city', quality: 'standard', style: 'vivid' }
    const { statusCode } = await rig.send({ ...defaults, model: 'image-v2' }, { operation, key })
    expect(statusCode).toBe(200)
    const sent = { model: 'upstream-image-2', prompt: 'a city', n: 1, size: '1024x1024' }
    expect(rig.upstreams[0]?.calls.at(-1)?.body).toStrictEqual(sent)
    expect((await rig.send({ ...defaults, model: 'image-v3' }, { operation, key })).statusCode).toBe(200)
    expect(await rig.balance(id)).toMatchObject({ held: '0', spent: '0.06' })
  })

  it.each<[string, object, number, string]>([
    ['one image in high definition', { model: 'image-v3', quality: 'hd' }, 1, '0.08'],
    ['three images', { model: 'image-v2', n: 3 }, 3, '0.06'],
    ['two images where three were asked for', { model: 'image-v2', n: 3 }, 2, '0.04'],
    ['no more than were asked for', { model: 'image-v2', n: 1 }, 5, '0.02'],
  ])('bills %s', async (_, body, count, spent) => {
    const { id, key } = await rig.tenant('1')
    answerWith(images(count))
    await rig.send({ prompt: 'a city', ...body }, { operation, key })
    expect(await rig.balance(id)).toMatchObject({ held: '0', spent })
  })
})

describe('create-image 502', () => {
  it.each<[string, unknown]>([
    ['no image', { created: 1, data: [] }],
    ['no list of images', { created: 1 }],
    ['a url that is no string', { data: [{ url: 7 }] }],
    ['an empty url', { data: [{ url: '' }] }],
    ['data that is no string', { data: [{ b64_json: {} }] }],
    ['an image beside an entry that is none', { data: [...images(1).data, {}] }],
  ])('an answer with %s is a failure of its upstream, and costs nothing', async (_, body) => {
    const { id, key } = await rig.tenant('1')
    answerWith(body)
    const { statusCode, text } = await rig.send({ model: 'image-v2', prompt: 'a city', n: 2 }, { operation, key })
    expect({ statusCode, code: JSON.parse(text).error.code }).toStrictEqual({ statusCode: 502, code: 'upstream_error' })
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })
})

describe('create-image 400', () => {
  it.each(['oai_images_policy', 'oai_images_policy_nested'])(
    '%s: is relayed without its details, and not billed',
    async (name) => {
      const { id, key } = await rig.tenant('1')
      const fixture = readFixture(name)
      answerWith(answerText(fixture), fixture.response.status)
      const { statusCode, text } = await rig.send({ model: 'image-v3', prompt: 'x' }, { operation, key })
      const shown = answerText(fixture).replace(/"inner_error":.*?\}\}\},/, '')
      expect({ statusCode, text }).toStrictEqual({ statusCode: 400, text: shown })
      expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
    },
  )

  it.each<[string, object, string]>([
    ['two images of a model that makes one', { model: 'image-v3', n: 2 }, 'n'],
    ['eleven images', { model: 'image-v2', n: 11 }, 'n'],
    ['a size of the other model', { model: 'image-v3', size: '256x256' }, 'size'],
    ['a quality of the other model', { model: 'image-v2', quality: 'hd' }, 'quality'],
    ['a style of the other model', { model: 'image-v2', style: 'natural' }, 'style'],
    ['an unknown format', { model: 'image-v2', response_format: 'png' }, 'response_format'],
    ['an endless prompt', { model: 'image-v3', prompt: 'x'.repeat(4001) }, 'prompt'],
    ['a blank prompt', { model: 'image-v3', prompt: ' ' }, 'prompt'],
  ])('%s is told before any money moves', async (_, body, param) => {
    const { id, key } = await rig.tenant('1')
    const { statusCode, text } = await rig.send({ prompt: 'a city', ...body }, { operation, key })
    expect({ statusCode, param: JSON.parse(text).error.param }).toStrictEqual({ statusCode: 400, param })
    expect(await rig.rows(id)).toHaveLength(0)
  })
})
