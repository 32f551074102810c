import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at } from '../shared/simulator-client.ts'
import { eventsOf, openAiFixture, withOpenAi } from './openai-client.ts'

const PATH = '/completions'
const textOf = (body: unknown, index: number) => String(at(body, 'choices', index, 'text'))

describe('completions of the OpenAI-style upstream', () => {
  it.each(['completions_simple', 'completions_map'])('have the members of the recorded %s', async (name) => {
    await withOpenAi({}, async ({ post }) => {
      const { request, response } = openAiFixture(name)
      const answer = await post(PATH, request.body)
      expect([answer.status, shapeOf(answer.body)]).toEqual([200, shapeOf(response.body)])
      expect(at(answer.body, 'choices')).toHaveLength(Object(at(response.body, 'choices')).length)
    })
  })

  it('are n for each prompt, in the order of the prompts, with the prompt in front if asked', async () => {
    await withOpenAi({}, async ({ post }) => {
      const asked = { model: 'chat-a', prompt: ['Once', 'Twice'], n: 2, echo: true, max_tokens: 100 }
      const { body } = await post(PATH, asked)
      expect([0, 1, 2, 3].map((index) => at(body, 'choices', index, 'index'))).toEqual([0, 1, 2, 3])
      expect([0, 1, 2, 3].map((index) => textOf(body, index).split(' ')[0])).toEqual(['Once', 'Once', 'Twice', 'Twice'])
      expect(textOf(body, 2)).toContain('“Twice”')
    })
  })

  it('have sixteen tokens unless more are asked for', async () => {
    await withOpenAi({}, async ({ post }) => {
      const { body } = await post(PATH, { model: 'chat-a', prompt: '[long:100]' })
      expect([at(body, 'choices', 0, 'finish_reason'), at(body, 'usage', 'completion_tokens')]).toEqual(['length', 16])
    })
  })

  it('say the same in a stream', async () => {
    await withOpenAi({}, async ({ post }) => {
      const asked = { model: 'chat-a', prompt: ['Once', 'Twice'], n: 2 }
      const { body } = await post(PATH, asked)
      const { text } = await post(PATH, { ...asked, stream: true, stream_options: { include_usage: true } })
      const events = eventsOf(text)
      for (const index of [0, 1, 2, 3]) {
        const words = events.filter((event) => at(event, 'choices', 0, 'index') === index)
        expect(words.map((event) => textOf(event, 0)).join('')).toBe(textOf(body, index))
      }
      expect(at(events.at(-1), 'choices')).toEqual([])
      expect(at(events.at(-1), 'usage')).toEqual(at(body, 'usage'))
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    })
  })

  it('take token ids, and refuse no prompt and too many tokens', async () => {
    await withOpenAi({}, async ({ post }) => {
      expect((await post(PATH, { model: 'a', prompt: [1, 2] })).status).toBe(200)
      expect(at((await post(PATH, { model: 'a', prompt: [[1], [2]] })).body, 'choices')).toHaveLength(2)
      for (const [more, param] of [
        [{ prompt: [] }, 'prompt'],
        [{ prompt: 'a', max_tokens: 20_000 }, 'max_tokens'],
      ] as const) {
        const answer = await post(PATH, { model: 'a', ...more })
        expect([answer.status, at(answer.body, 'error', 'param')]).toEqual([400, param])
      }
    })
  })
})
