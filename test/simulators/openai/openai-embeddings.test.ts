import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at, type ClientAnswer } from '../shared/simulator-client.ts'
import { openAiFixture, withOpenAi } from './openai-client.ts'

const MODEL = 'text-embedding-3-small'

function vectorOf({ body }: ClientAnswer, index = 0): readonly number[] {
  const embedding = at(body, 'data', index, 'embedding')
  return Array.isArray(embedding) ? embedding.map(Number) : []
}

const product = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

describe('embeddings of the OpenAI-style upstream', () => {
  it.each(['embeddings_float', 'embeddings_base64'])('have the members of the recorded %s', async (name) => {
    await withOpenAi({}, async ({ post }) => {
      const { request, response } = openAiFixture(name)
      const answer = await post('/embeddings', request.body)
      expect([answer.status, shapeOf(answer.body)]).toEqual([200, shapeOf(response.body)])
      expect(at(answer.body, 'usage')).toEqual(at(response.body, 'usage'))
    })
  })

  it('are unit vectors of the length that the model has, or that was asked for', async () => {
    await withOpenAi({}, async ({ post }) => {
      for (const [model, dimensions, length] of [
        [MODEL, undefined, 1536],
        ['text-embedding-3-large', undefined, 3072],
        ['text-embedding-ada-002', undefined, 1536],
        [MODEL, 7, 7],
      ]) {
        const vector = vectorOf(await post('/embeddings', { model, dimensions, input: 'a paper city' }))
        expect(vector).toHaveLength(Number(length))
        expect(product(vector, vector)).toBeCloseTo(1, 5)
      }
    })
  })

  it('are the same for the same text and near for texts that share words', async () => {
    await withOpenAi({}, async ({ post }) => {
      const input = ['the red fox in snow', 'the red fox in snow', 'a red fox in rain', 'stock market report']
      const answer = await post('/embeddings', { model: MODEL, input })
      const [first, same, near, far] = [0, 1, 2, 3].map((index) => vectorOf(answer, index))
      expect(same).toEqual(first)
      expect(product(first ?? [], near ?? [])).toBeGreaterThan(0.4)
      expect(Math.abs(product(first ?? [], far ?? []))).toBeLessThan(0.15)
    })
  })

  it('are the same numbers in base64, little-endian', async () => {
    await withOpenAi({}, async ({ post }) => {
      const asked = { model: MODEL, input: 'hi' }
      const floats = vectorOf(await post('/embeddings', asked))
      const packed = await post('/embeddings', { ...asked, encoding_format: 'base64' })
      const bytes = Buffer.from(String(at(packed.body, 'data', 0, 'embedding')), 'base64')
      expect(bytes).toHaveLength(4 * floats.length)
      expect(floats.map((_, index) => bytes.readFloatLE(index * 4))).toEqual(floats)
    })
  })

  it('take token ids, one list or several', async () => {
    await withOpenAi({}, async ({ post }) => {
      const one = await post('/embeddings', { model: MODEL, input: [1, 2, 3], dimensions: 4 })
      const two = await post('/embeddings', { model: MODEL, input: [[1, 2, 3], [4]], dimensions: 4 })
      expect(at(one.body, 'data')).toHaveLength(1)
      expect(at(two.body, 'data')).toHaveLength(2)
      expect(vectorOf(two)).toEqual(vectorOf(one))
      expect([at(one.body, 'usage', 'prompt_tokens'), at(two.body, 'usage', 'prompt_tokens')]).toEqual([3, 4])
    })
  })

  it('come in reverse with the right indexes with [disordered]', async () => {
    await withOpenAi({}, async ({ post }) => {
      const input = ['one [disordered]', 'two', 'three']
      const answer = await post('/embeddings', { model: MODEL, input, dimensions: 4 })
      expect([0, 1, 2].map((place) => at(answer.body, 'data', place, 'index'))).toEqual([2, 1, 0])
      const two = await post('/embeddings', { model: MODEL, input: 'three', dimensions: 4 })
      expect(vectorOf(answer, 0)).toEqual(vectorOf(two))
    })
  })

  it('stay numbers with [ignore-encoding], and have no usage with [no-usage]', async () => {
    await withOpenAi({}, async ({ post }) => {
      const input = '[ignore-encoding][no-usage]'
      const answer = await post('/embeddings', { model: MODEL, input, encoding_format: 'base64' })
      expect(vectorOf(answer)).toHaveLength(1536)
      expect(at(answer.body, 'usage')).toBeUndefined()
    })
  })

  it.each([
    ['no input', { input: undefined }, 'input'],
    ['an empty text', { input: '' }, 'input'],
    ['an empty list', { input: [] }, 'input'],
    ['a list of both texts and ids', { input: ['a', 1] }, 'input'],
    ['too many ids', { input: Array.from({ length: 8193 }, () => 1) }, 'input'],
    ['too many texts', { input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
    ['an unknown encoding', { encoding_format: 'hex' }, 'encoding_format'],
    ['more dimensions than there are', { dimensions: 1537 }, 'dimensions'],
    ['dimensions of an older model', { model: 'text-embedding-ada-002', dimensions: 8 }, 'dimensions'],
  ])('are refused for %s', async (_, more, param) => {
    await withOpenAi({}, async ({ post }) => {
      const answer = await post('/embeddings', { model: MODEL, input: 'a', ...more })
      expect([answer.status, at(answer.body, 'error', 'param')]).toEqual([400, param])
    })
  })
})
