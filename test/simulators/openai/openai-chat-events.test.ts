import { describe, expect, it } from 'vitest'
import { shapeOf } from '../shared/shape-of.ts'
import { at } from '../shared/simulator-client.ts'
import { dataOf, eventsOf, openAiFixture, withOpenAi } from './openai-client.ts'

const TOOL = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

/** The shapes of a stream in order, each kind of event once: how many words there are does not matter. */
function shapesOf(text: string): readonly unknown[] {
  const shapes = dataOf(text).map((data) => JSON.stringify(data === '[DONE]' ? data : shapeOf(JSON.parse(data))))
  return shapes.filter((shape, index) => shape !== shapes[index - 1])
}

const deltaOf = (event: unknown) => at(event, 'choices', 0, 'delta')
const contentOf = (events: readonly unknown[], choice = 0) =>
  events
    .filter((event) => at(event, 'choices', 0, 'index') === choice)
    .map((event) => at(deltaOf(event), 'content') ?? '')
    .join('')

describe('a chat stream of the OpenAI-style upstream', () => {
  it.each(['chat_stream', 'chat_stream_usage'])('has the events of the recorded %s', async (name) => {
    await withOpenAi({}, async ({ post }) => {
      const { request, response } = openAiFixture(name)
      const answer = await post('/chat/completions', request.body)
      expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/)
      expect(shapesOf(answer.text)).toEqual(shapesOf(response.body_text ?? ''))
    })
  })

  it('has the events of a recorded tool call, with the arguments in pieces', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const answer = await chat('The weather in Oslo, please', { tools: [TOOL], stream: true })
      expect(shapesOf(answer.text)).toEqual(shapesOf(openAiFixture('chat_stream_tools').response.body_text ?? ''))
      const pieces = eventsOf(answer.text).map((event) => at(deltaOf(event), 'tool_calls', 0, 'function', 'arguments'))
      expect(pieces.filter(Boolean).length).toBeGreaterThan(1)
      expect(pieces.join('')).toBe('{"city":"Oslo"}')
    })
  })

  it('says word for word what the whole answer says, for each choice, and counts the same', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const whole = await chat('Say hi', { n: 2 })
      const streamed = eventsOf(
        (await chat('Say hi', { n: 2, stream: true, stream_options: { include_usage: true } })).text,
      )
      for (const choice of [0, 1]) {
        expect(contentOf(streamed, choice)).toBe(at(whole.body, 'choices', choice, 'message', 'content'))
      }
      expect(at(streamed.at(-1), 'usage')).toEqual(at(whole.body, 'usage'))
      expect(streamed.filter((event) => at(deltaOf(event), 'content') === ' said')).toHaveLength(1)
    })
  })

  it('lets several choices take turns, each with an end of its own', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const events = eventsOf((await chat('Say hi', { n: 3, max_tokens: 2, stream: true })).text)
      const indexes = events.map((event) => at(event, 'choices', 0, 'index'))
      expect(indexes.slice(0, 6)).toEqual([0, 1, 2, 0, 1, 2])
      const ends = events.filter((event) => at(event, 'choices', 0, 'finish_reason') === 'length')
      expect(ends.map((event) => at(event, 'choices', 0, 'index')).toSorted()).toEqual([0, 1, 2])
    })
  })

  it('has usage on every event and growing with [usage-every]', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const events = eventsOf((await chat('[usage-every] Say hi', { stream: true })).text)
      const counts = events.map((event) => Number(at(event, 'usage', 'completion_tokens')))
      const whole = await chat('[usage-every] Say hi')
      expect(counts).toEqual(counts.toSorted((a, b) => a - b))
      expect([counts[0], counts.at(-1)]).toEqual([0, at(whole.body, 'usage', 'completion_tokens')])
    })
  })

  it('has usage on the event with the finish reason alone with [usage-finish]', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const asked = { stream: true, stream_options: { include_usage: true } }
      const events = eventsOf((await chat('[usage-finish] Say hi', asked)).text)
      const last = events.at(-1)
      expect([at(last, 'choices', 0, 'finish_reason'), typeof at(last, 'usage', 'total_tokens')]).toEqual([
        'stop',
        'number',
      ])
      expect(events.slice(0, -1).every((event) => at(event, 'usage') === null)).toBe(true)
    })
  })

  it('has no usage at all with [no-usage], streamed or not', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const asked = { stream: true, stream_options: { include_usage: true } }
      expect((await chat('[no-usage] Say hi', asked)).text).not.toContain('usage')
      expect((await chat('[no-usage] Say hi')).text).not.toContain('usage"')
    })
  })

  it.each(['-1', '1.50', '1e30', '0'])('writes %s as it stands with [odd-usage]', async (number) => {
    await withOpenAi({}, async ({ chat }) => {
      const usage = `"usage":{"prompt_tokens":${number},"completion_tokens":${number},"total_tokens":${number}}`
      const asked = { stream: true, stream_options: { include_usage: true } }
      expect((await chat(`[odd-usage:${number}] hi`)).text).toContain(usage)
      expect((await chat(`[odd-usage:${number}] hi`, asked)).text).toContain(usage)
    })
  })

  it('says how many tokens were cached with [usage-details]', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { body } = await chat('[usage-details] Say hi')
      expect(at(body, 'usage', 'prompt_tokens_details', 'cached_tokens')).toBe(
        Math.floor(Number(at(body, 'usage', 'prompt_tokens')) / 2),
      )
    })
  })

  it('has N words with [long:N], but no more than max_tokens', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const events = eventsOf((await chat('[long:500]', { stream: true })).text)
      expect(contentOf(events).split(' ')).toHaveLength(500)
      const { body } = await chat('[long:500]', { max_tokens: 10 })
      expect(String(at(body, 'choices', 0, 'message', 'content')).split(' ')).toHaveLength(10)
    })
  })
})
