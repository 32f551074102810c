import { describe, expect, it } from 'vitest'
import { at } from '../shared/simulator-client.ts'
import { withOpenAi } from './openai-client.ts'

const MEGABYTE = 1024 * 1024

describe('a whole answer of the OpenAI-style upstream', () => {
  it.each(['[cut]', '[cut:0]', '[error:500][cut]'])('of %s promises more bytes than come', async (word) => {
    await withOpenAi({}, async ({ rawChat }) => {
      const answer = await rawChat(`${word} hi`)
      const promised = Number(/content-length: (\d+)/.exec(answer.head)?.[1])
      expect(answer.isWhole).toBe(false)
      expect(Buffer.byteLength(answer.text)).toBe(word === '[cut:0]' ? 0 : Math.floor(promised / 2))
    })
  })

  it('of [silent] falls silent at half', async () => {
    await withOpenAi({}, async ({ simulator, rawChat }) => {
      const startedAt = performance.now()
      const answer = await rawChat('[silent:0.3] hi')
      const wholeMilliseconds = performance.now() - startedAt
      expect(wholeMilliseconds).toBeGreaterThan(295)
      expect(answer.firstByteMilliseconds).toBeLessThan(wholeMilliseconds / 2)
      expect([answer.isWhole, at(JSON.parse(answer.text), 'object')]).toEqual([true, 'chat.completion'])
      expect(simulator.requests).toHaveLength(1)
    })
  })

  it('of [slices] is the same in the end', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const [plain, sliced] = [await chat('hi'), await chat('[slices] hi')]
      expect(at(sliced.body, 'choices')).toEqual(at(plain.body, 'choices'))
    })
  })

  it('of [bad-json] says that it is JSON and is not', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const answer = await chat('[bad-json] hi')
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(() => JSON.parse(answer.text)).toThrow(SyntaxError)
    })
  })

  it('of [html] is a page', async () => {
    await withOpenAi({}, async ({ chat }) => {
      expect((await chat('[html] hi')).text).toMatch(/^<!doctype html>/)
    })
  })

  it('of [huge] is so large and says what it always says, also when it is an error', async () => {
    await withOpenAi({}, async ({ post, chat }) => {
      const said = await chat('[huge:2] hi')
      expect(String(at(said.body, 'choices', 0, 'message', 'content'))).toHaveLength(2 * MEGABYTE)
      const failed = await chat('[huge:2][error:500] hi')
      expect([failed.text.length, at(failed.body, 'error', 'type')]).toEqual([2 * MEGABYTE, 'server_error'])
      const embedded = await post('/embeddings', { model: 'text-embedding-3-small', input: '[huge:2]' })
      expect([embedded.text.length, at(embedded.body, 'object')]).toEqual([2 * MEGABYTE, 'list'])
    })
  })

  it('of [huge] in a stream is one event', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { text } = await chat('[huge:2] hi', { stream: true })
      expect(text.split('\n\n').filter((event) => event.length > MEGABYTE)).toHaveLength(1)
    })
  })

  it('of [hang] never comes, while others are answered', async () => {
    await withOpenAi({}, async ({ chat, simulator }) => {
      let settled = false
      const hanging = chat('[hang] hi').finally(() => {
        settled = true
      })
      expect((await chat('hi')).status).toBe(200)
      expect(settled).toBe(false)
      await simulator.close()
      await expect(hanging).rejects.toThrow()
    })
  })
})
