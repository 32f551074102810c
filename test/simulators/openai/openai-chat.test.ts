import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at } from '../shared/simulator-client.ts'
import { openAiFixture, withOpenAi } from './openai-client.ts'

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}
const TIME = { type: 'function', function: { name: 'get_time' } }

const contentOf = (body: unknown, choice = 0) => at(body, 'choices', choice, 'message', 'content')
const reasonOf = (body: unknown, choice = 0) => at(body, 'choices', choice, 'finish_reason')

describe('a chat answer of the OpenAI-style upstream', () => {
  it('has exactly the members of a recorded one', async () => {
    await withOpenAi({}, async ({ post }) => {
      const { request, response } = openAiFixture('chat')
      const answer = await post('/chat/completions', request.body)
      expect(answer.status).toBe(200)
      expect(shapeOf(answer.body)).toEqual(shapeOf(response.body))
    })
  })

  it.each(['chat_n2', 'chat_tools'])('has all members of the recorded %s', async (name) => {
    await withOpenAi({}, async ({ post }) => {
      const { request, response } = openAiFixture(name)
      const answer = await post('/chat/completions', request.body)
      expect(shapeOf(answer.body)).toMatchObject(Object(shapeOf(response.body)))
    })
  })

  it('quotes what the user said last, cut to sixty characters, and is the same for the same words', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const long = '\u{1f600}'.repeat(100)
      const [short, again, cut] = [await chat('Say hi'), await chat('Say hi'), await chat(long)]
      expect(contentOf(short.body)).toContain('“Say hi”')
      expect(contentOf(again.body)).toBe(contentOf(short.body))
      expect(contentOf(cut.body)).toContain(`“${'\u{1f600}'.repeat(59)}…”`)
    })
  })

  it('does not quote magic words', async () => {
    await withOpenAi({}, async ({ chat }) => {
      expect(contentOf((await chat('[gap:1] Say [hello] hi [no-done]')).body)).toContain('“Say [hello] hi”')
      expect(contentOf((await chat('[gap:1]')).body)).toContain('nothing but magic')
    })
  })

  it('has n choices, each with words of its own', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { body } = await chat('Say hi', { n: 3 })
      expect([0, 1, 2].map((choice) => at(body, 'choices', choice, 'index'))).toEqual([0, 1, 2])
      expect(new Set([0, 1, 2].map((choice) => contentOf(body, choice))).size).toBe(3)
    })
  })

  it.each(['max_tokens', 'max_completion_tokens'])('ends with length at %s, and counts no more', async (name) => {
    await withOpenAi({}, async ({ chat }) => {
      const whole = String(contentOf((await chat('Say hi')).body))
      const { body } = await chat('Say hi', { [name]: 4, n: 2 })
      expect(reasonOf(body)).toBe('length')
      expect(at(body, 'usage', 'completion_tokens')).toBe(8)
      expect(whole.startsWith(String(contentOf(body)))).toBe(true)
    })
  })

  it('ends with stop when the limit is not reached', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { body } = await chat('Say hi', { max_tokens: 100 })
      expect(reasonOf(body)).toBe('stop')
    })
  })

  it('ends before a stop sequence', async () => {
    await withOpenAi({}, async ({ chat }) => {
      for (const stop of ['hi', ['zebra', 'hi']]) {
        const { body } = await chat('Say hi', { stop })
        expect(contentOf(body)).toMatch(/“Say $/)
        expect(reasonOf(body)).toBe('stop')
      }
    })
  })

  it('adds up its usage, and counts more for longer messages', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const usages = [await chat('one'), await chat('one two three four')].map(({ body }) => at(body, 'usage'))
      const [short, long] = usages.map((usage) => Number(at(usage, 'prompt_tokens')))
      expect(Number(long) - Number(short)).toBe(3)
      for (const usage of usages) {
        const [prompt, completion] = [at(usage, 'prompt_tokens'), at(usage, 'completion_tokens')].map(Number)
        expect(at(usage, 'total_tokens')).toBe(Number(prompt) + Number(completion))
      }
    })
  })

  it('takes content parts and notices pictures', async () => {
    await withOpenAi({}, async ({ post }) => {
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } }
      const content = [{ type: 'text', text: 'Look here' }, image, image]
      const { body } = await post('/chat/completions', { model: 'chat-a', messages: [{ role: 'user', content }] })
      expect(contentOf(body)).toMatch(/“Look here”.*Lovely pictures/)
      expect(Number(at(body, 'usage', 'prompt_tokens'))).toBeGreaterThan(170)
    })
  })

  it('is JSON when JSON is asked for, and follows a schema when there is one', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const free = await chat('Say hi in JSON', { response_format: { type: 'json_object' } })
      expect(JSON.parse(String(contentOf(free.body)))).toMatchObject({ you_said: 'Say hi in JSON' })
      const schema = { type: 'object', properties: { mood: { enum: ['good', 'bad'] }, count: { type: 'integer' } } }
      const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
      const strict = await chat('Say hi', { response_format: format })
      expect(JSON.parse(String(contentOf(strict.body)))).toEqual({ mood: 'good', count: 1 })
    })
  })

  it('says nothing when it was filtered', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { body } = await chat('[filtered]')
      expect(shapeOf(body)).toMatchObject(Object(shapeOf(openAiFixture('chat_content_filter').response.body)))
      expect([contentOf(body), reasonOf(body), at(body, 'usage', 'completion_tokens')]).toEqual([
        '',
        'content_filter',
        0,
      ])
    })
  })

  it('has fewer choices than asked for with [fewer], but never none', async () => {
    await withOpenAi({}, async ({ chat }) => {
      expect(at((await chat('[fewer]', { n: 3 })).body, 'choices')).toHaveLength(2)
      expect(at((await chat('[fewer]')).body, 'choices')).toHaveLength(1)
    })
  })
})

describe('tools of the OpenAI-style upstream', () => {
  it('are called with a JSON string that follows the schema', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { body } = await chat('What is the weather in Oslo?', { tools: [WEATHER] })
      expect(reasonOf(body)).toBe('tool_calls')
      const called = at(body, 'choices', 0, 'message', 'tool_calls', 0)
      expect(called).toMatchObject({ id: expect.stringMatching(/^call_/), type: 'function' })
      expect(at(called, 'function')).toEqual({ name: 'get_weather', arguments: '{"city":"Oslo"}' })
    })
  })

  it('are chosen by name, and left alone when the choice is none', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const tools = [WEATHER, TIME]
      const chosen = await chat('Say hi', {
        tools,
        tool_choice: { type: 'function', function: { name: 'get_time' } },
      })
      expect(at(chosen.body, 'choices', 0, 'message', 'tool_calls', 0, 'function')).toEqual({
        name: 'get_time',
        arguments: '{}',
      })
      const none = await chat('Say hi', { tools, tool_choice: 'none' })
      expect([reasonOf(none.body), typeof contentOf(none.body)]).toEqual(['stop', 'string'])
    })
  })

  it('are answered in words once a tool has spoken', async () => {
    await withOpenAi({}, async ({ post }) => {
      const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
      const messages = [
        { role: 'user', content: 'What is the weather in Oslo?' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      ]
      const { body } = await post('/chat/completions', { model: 'chat-a', messages, tools: [WEATHER] })
      expect(contentOf(body)).toContain('“Rain”')
      expect(reasonOf(body)).toBe('stop')
    })
  })
})
