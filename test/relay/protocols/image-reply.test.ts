import { describe, expect, it } from '@jest/globals'
import { ImageReplyReader } from '#lambdas/relay/protocols/image.ts'
import { pushInPieces, rulesOf } from '../../core/relay/reply-rules.ts'
import { fixtureAnswer } from './fixture-answer.ts'

function read(text: string) {
  const reader = new ImageReplyReader(rulesOf('image-v2'))
  pushInPieces(reader, Buffer.from(text))
  const answer = reader.end()
  if (answer.kind !== 'reply') {
    return answer
  }
  return { text: Buffer.concat(answer.relayed(undefined)).toString(), images: answer.usage }
}

const data = (...images: string[]) => `{"created":1776678917,"data":[${images.join(', ')}]}`

describe('ImageReplyReader: a reply with images', () => {
  it.each([
    ['oai_images_url', 1],
    ['oai_images_b64', 2],
  ])('of %s goes on byte for byte and has %d', (name, images) => {
    const text = fixtureAnswer(name)
    expect(read(text)).toStrictEqual({ text, images })
  })

  it.each([
    ['{"url":"https://a.test/1.png"}', 1],
    ['{"b64_json":"iVBORw0KGgo=","url":"https://a.test/1.png"}', 1],
    ['{"b64_json":"iVBORw0KGgo=","url":null}', 1],
    ['{"url":"https://a.test/1.png"}, {"error":{"code":"content_filtered"}}', 1],
  ])('%s counts %d', (image, images) => {
    expect(read(data(image))).toMatchObject({ images, text: data(image) })
  })

  it('counts each of them', () => {
    const image = '{"b64_json":"iVBORw0KGgo="}'
    expect(read(data(image, image, image))).toMatchObject({ images: 3 })
  })

  it.each([
    '{"url":"","revised_prompt":"a fox"}',
    '{"url":null}',
    '{"url":7}',
    '{"url":["https://a.test/1.png"]}',
    '{"b64_json":""}',
    '{"b64_json":{}}',
    '{"revised_prompt":"a fox"}',
    '{}',
    'null',
    '"https://a.test/1.png"',
    '[{"url":"https://a.test/1.png"}]',
  ])('with an entry that is no image, %s, is a failure of the upstream, alone and beside images', (entry) => {
    const image = '{"url":"https://a.test/1.png"}'
    for (const text of [data(entry), data(image, entry), data(entry, image)]) {
      expect(read(text)).toMatchObject({ kind: 'unusable' })
    }
  })

  it.each([
    '{"created":1}',
    '{"data":null}',
    '{"data":{"url":"https://a.test/1.png"}}',
    '{}',
    data(),
    data('{"error":{"code":"content_filtered"}}'),
  ])('without an image, such as %s, is a failure of the upstream', (text) => {
    expect(read(text)).toMatchObject({ kind: 'unusable' })
  })

  it('counts the last list of images where data stands twice, as a client reads it', () => {
    expect(read('{"data":[{"url":"a"},{"url":"b"}],"data":[{"url":"c"}]}')).toMatchObject({ images: 1 })
    expect(read('{"data":[{"url":"a"}],"data":null}')).toMatchObject({ kind: 'unusable' })
  })

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
    const reader = new ImageReplyReader(rulesOf('image-v2'))
    reader.push(bytes)
    const answer = reader.end()
    expect(answer).toMatchObject({ kind: 'reply', usage: 1 })
    const pieces = answer.kind === 'reply' ? answer.relayed(undefined) : []
    expect(pieces.map((piece) => piece.buffer === bytes.buffer)).toStrictEqual([true])
  })
})
