import { describe, expect, it } from '@jest/globals'
import { readImageAnswer } from '#core/relay/image-answer.ts'
import { fixtureAnswer } from './fixture-answer.ts'

function read(text: string) {
  const answer = readImageAnswer(Buffer.from(text), { publicModel: 'image-v2' })
  return answer.kind === 'unusable'
    ? answer
    : { text: Buffer.concat(answer.pieces).toString(), images: answer.images, byteLength: answer.byteLength }
}

const data = (...images: string[]) => `{"created":1776678917,"data":[${images.join(', ')}]}`

describe('an answer with images', () => {
  it.each([
    ['oai_images_url', 1],
    ['oai_images_b64', 2],
  ])('of %s goes on byte for byte and has %d', (name, images) => {
    const text = fixtureAnswer(name)
    expect(read(text)).toStrictEqual({ text, images, byteLength: Buffer.byteLength(text) })
  })

  it.each([
    ['{"url":"https://a.test/1.png"}', 1],
    ['{"b64_json":"iVBORw0KGgo=","url":"https://a.test/1.png"}', 1],
    ['{"b64_json":"iVBORw0KGgo=","url":null}', 1],
    ['{"url":"","revised_prompt":"a fox"}', 0],
    ['{"revised_prompt":"a fox"}', 0],
    ['null', 0],
    ['"https://a.test/1.png"', 0],
    ['[{"url":"https://a.test/1.png"}]', 0],
    ['', 0],
  ])('%s counts %d', (image, images) => {
    expect(read(data(image))).toMatchObject({ images, text: data(image) })
  })

  it('counts each of them', () => {
    const image = '{"b64_json":"iVBORw0KGgo="}'
    expect(read(data(image, 'null', image, '{}', image))).toMatchObject({ images: 3 })
  })

  it.each(['{"created":1}', '{"data":null}', '{"data":{"url":"https://a.test/1.png"}}', '{}'])(
    'of another shape, such as %s, cannot be counted and goes on',
    (text) => {
      expect(read(text)).toMatchObject({ text, images: undefined })
    },
  )

  it('names the model that the client knows, where its upstream names one', () => {
    const text = '{"model":"up-2", "data":[{"url":"u","model":"up-2"}]}'
    expect(read(text)).toMatchObject({ text: '{"model":"image-v2", "data":[{"url":"u","model":"up-2"}]}', images: 1 })
  })

  it.each(['', '[]', '<html>', '{"data":[', '{"data":[{"url":"u"}]', '{"data":[{"url":nope}]}', '{} {}'])(
    'is a failure of the upstream when it is %j',
    (text) => {
      expect(read(text)).toMatchObject({ kind: 'unusable' })
    },
  )

  it('of many megabytes is a view of the upstream’s own bytes', () => {
    const bytes = Buffer.from(data(`{"b64_json":"${'A'.repeat(8_000_000)}"}`))
    const answer = readImageAnswer(bytes, { publicModel: 'image-v2' })
    expect(answer).toMatchObject({ kind: 'answer', images: 1, byteLength: bytes.length })
    expect(answer.kind === 'answer' && answer.pieces.map((piece) => piece.buffer === bytes.buffer)).toStrictEqual([
      true,
    ])
  })
})
