import { crc32, inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, type ClientAnswer } from '../shared/simulator-client.ts'
import { openAiFixture, withOpenAi } from './openai-client.ts'

const PATH = '/images/generations'

const urlOf = ({ body }: ClientAnswer) => String(at(body, 'data', 0, 'url'))

/** The parts of a PNG by name; each has the checksum that a viewer wants. */
function chunksOf(png: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>()
  for (let offset = 8; offset < png.length; ) {
    const length = png.readUInt32BE(offset)
    expect(png.readUInt32BE(offset + 8 + length)).toBe(crc32(png.subarray(offset + 4, offset + 8 + length)))
    chunks.set(png.toString('latin1', offset + 4, offset + 8), png.subarray(offset + 8, offset + 8 + length))
    offset += length + 12
  }
  return chunks
}

function sizeOf(png: Buffer): string {
  const header = chunksOf(png).get('IHDR') ?? Buffer.alloc(13)
  return `${header.readUInt32BE(0)}x${header.readUInt32BE(4)}`
}

describe('images of the OpenAI-style upstream', () => {
  it.each(['images_url', 'images_b64'])('have the members of the recorded %s', async (name) => {
    await withOpenAi({}, async ({ post }) => {
      const { request, response } = openAiFixture(name)
      const answer = await post(PATH, request.body)
      expect([answer.status, shapeOf(answer.body)]).toEqual([200, shapeOf(response.body)])
      expect(at(answer.body, 'data')).toHaveLength(Object(at(response.body, 'data')).length)
    })
  })

  it('are PNGs of the asked size, the same behind the url and in base64, another for another prompt', async () => {
    await withOpenAi({}, async ({ post }) => {
      const asked = { model: 'image-v3', prompt: 'a fox', size: '1792x1024' }
      const response = await fetch(urlOf(await post(PATH, asked)))
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
      const png = Buffer.from(await response.arrayBuffer())
      expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
      expect(sizeOf(png)).toBe('1792x1024')
      expect(inflateSync(chunksOf(png).get('IDAT') ?? Buffer.alloc(0))).toHaveLength(1024 * (1792 + 1))
      const packed = (more: object) => post(PATH, { ...asked, response_format: 'b64_json', ...more })
      const dataOf = ({ body }: ClientAnswer) => at(body, 'data', 0, 'b64_json')
      expect(dataOf(await packed({}))).toBe(png.toString('base64'))
      expect(dataOf(await packed({ prompt: 'a cat' }))).not.toBe(png.toString('base64'))
    })
  })

  it('are n different ones', async () => {
    await withOpenAi({}, async ({ post }) => {
      const { body } = await post(PATH, { model: 'image-v2', prompt: 'a fox', n: 3, response_format: 'b64_json' })
      expect(new Set([0, 1, 2].map((index) => at(body, 'data', index, 'b64_json'))).size).toBe(3)
    })
  })

  it('are behind urls that end after an hour and cannot be changed', async () => {
    await withOpenAi({}, async ({ post, clock, simulator }) => {
      const url = urlOf(await post(PATH, { model: 'image-v2', prompt: 'a fox', size: '256x256' }))
      const statusOf = async (address: string) => (await fetch(address)).status
      expect(await statusOf(url.replace('256x256', '512x512'))).toBe(403)
      expect(await statusOf(`http://127.0.0.1:${simulator.port}/images/1-9999x9999.png`)).toBe(403)
      expect((await fetch(url, { method: 'POST' })).status).toBe(405)
      clock.advanceSeconds(3599)
      expect(await statusOf(url)).toBe(200)
      clock.advanceSeconds(1)
      expect(await statusOf(url)).toBe(403)
    })
  })

  it('of any other model come in any size and any number up to ten', async () => {
    await withOpenAi({}, async ({ post }) => {
      const { status, body } = await post(PATH, { model: 'image-x', prompt: 'a fox', n: 10, size: '32x16' })
      expect(status).toBe(200)
      expect(at(body, 'data')).toHaveLength(10)
    })
  })

  it('are one fewer with [fewer]', async () => {
    await withOpenAi({}, async ({ post }) => {
      const { body } = await post(PATH, { model: 'image-v2', prompt: '[fewer] a fox', n: 3, size: '256x256' })
      expect(at(body, 'data')).toHaveLength(2)
    })
  })

  it.each([
    ['[policy]', 'images_policy'],
    ['[policy:nested]', 'images_policy_nested'],
  ])('are forbidden by %s exactly as in the recorded %s', async (word, name) => {
    await withOpenAi({}, async ({ post }) => {
      const answer = await post(PATH, { model: 'image-v3', prompt: word })
      const { response } = openAiFixture(name)
      expect([answer.status, answer.text]).toEqual([400, JSON.stringify(response.body)])
    })
  })

  it.each([
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['a size that the model has not', { size: '256x256' }, 'size'],
    ['a size that is none', { size: 'large' }, 'size'],
    ['a size out of bounds', { model: 'image-x', size: '4096x4096' }, 'size'],
    ['two of the model that makes one', { n: 2 }, 'n'],
    ['eleven', { model: 'image-v2', n: 11 }, 'n'],
    ['a quality that the model has not', { model: 'image-v2', quality: 'hd' }, 'quality'],
    ['a style that there is not', { style: 'dull' }, 'style'],
    ['a format that there is not', { response_format: 'gif' }, 'response_format'],
    ['a prompt that is too long', { prompt: 'a'.repeat(4001) }, 'prompt'],
  ])('are refused for %s', async (_, more, param) => {
    await withOpenAi({}, async ({ post }) => {
      const answer = await post(PATH, { model: 'image-v3', prompt: 'a fox', ...more })
      expect([answer.status, at(answer.body, 'error', 'param')]).toEqual([400, param])
    })
  })
})
