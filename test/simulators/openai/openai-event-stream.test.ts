import { describe, expect, it } from 'vitest'
import { type OpenAiSimulatorOptions, startOpenAiSimulator } from '../../../lib/simulators/openai/openai-simulator.ts'
import { at } from '../shared/simulator-client.ts'
import { chatBody, dataOf, eventsOf, openAiFixture, rawPost, withOpenAi } from './openai-client.ts'

const STREAM = { stream: true, max_tokens: 6 }

/** A stream's text with what differs between two requests taken out. */
const withoutIds = (text: string) => text.replaceAll(/chatcmpl-[0-9a-f]+/g, 'ID')

describe('a stream that breaks', () => {
  it.each([
    ['[cut]', 3],
    ['[cut:1]', 1],
    ['[cut:0]', 0],
  ])('of %s has %i events, and its connection dies before the end', async (word, count) => {
    await withOpenAi({}, async ({ rawChat }) => {
      const answer = await rawChat(`${word} hi`, STREAM)
      expect(answer.head).toMatch(/^HTTP\/1.1 200/)
      expect(eventsOf(answer.text)).toHaveLength(count)
      expect(answer.isWhole).toBe(false)
    })
  })

  it('of [reset] has no byte', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const answer = await rawChat('[reset] hi', STREAM)
      expect([answer.head, answer.text, answer.wasReset]).toEqual(['', '', true])
    })
  })

  it('of [error-mid] ends in order after the recorded error, without [DONE]', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const recorded = eventsOf(openAiFixture('chat_stream_error').response.body_text ?? '').at(-1)
      const answer = await rawChat('[error-mid] hi', STREAM)
      const data = dataOf(answer.text)
      expect(data).toHaveLength(4)
      expect(JSON.parse(data.at(-1) ?? '')).toEqual(recorded)
      expect(answer.isWhole).toBe(true)
    })
  })

  it('of [no-done] ends in order after the finish reason', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const answer = await rawChat('[no-done] hi', STREAM)
      expect(at(eventsOf(answer.text).at(-1), 'choices', 0, 'finish_reason')).toBe('length')
      expect(answer.text).not.toContain('[DONE]')
      expect(answer.isWhole).toBe(true)
    })
  })

  it('of [bad-json] has one event that is no JSON and goes on', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const data = dataOf((await rawChat('[bad-json] hi', STREAM)).text)
      expect(() => JSON.parse(data[3] ?? '')).toThrow(SyntaxError)
      expect(data.at(-1)).toBe('[DONE]')
      const others = data.toSpliced(3, 1).slice(0, -1)
      expect(others.map((one) => at(JSON.parse(one), 'object'))).toEqual(others.map(() => 'chat.completion.chunk'))
    })
  })

  it('of [html] is a page', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const answer = await chat('[html] hi', STREAM)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(answer.text).toContain('<html>')
    })
  })
})

describe('a stream in another writing', () => {
  const plainEvents = async (chat: (prompt: string, more: object) => Promise<{ text: string }>) =>
    dataOf(withoutIds((await chat('[gap:0] hi', STREAM)).text))

  it('of [crlf] ends every line in CRLF and says the same', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { text } = await chat('[crlf] hi', STREAM)
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
      expect(text.endsWith('data: [DONE]\r\n\r\n')).toBe(true)
      expect(dataOf(withoutIds(text))).toEqual(await plainEvents(chat))
    })
  })

  it('of [comments] has a comment before every event and says the same', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { text } = await chat('[comments] hi', STREAM)
      const plain = await plainEvents(chat)
      expect(text.match(/^: PING$/gm)).toHaveLength(plain.length)
      expect(dataOf(withoutIds(text))).toEqual(plain)
    })
  })

  it('of [multi-data] spreads each event over several lines of data and says the same', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { text } = await chat('[multi-data] hi', STREAM)
      expect(text.split('\n\n')[0]?.match(/^data: /gm)?.length).toBeGreaterThan(5)
      const compact = dataOf(withoutIds(text)).map((data) =>
        data === '[DONE]' ? data : JSON.stringify(JSON.parse(data)),
      )
      expect(compact).toEqual(await plainEvents(chat))
    })
  })

  it('of [no-space] has no space after the name and says the same', async () => {
    await withOpenAi({}, async ({ chat }) => {
      const { text } = await chat('[no-space] hi', STREAM)
      expect(text).toMatch(/^data:\{/)
      expect(text).not.toContain('data: ')
      expect(dataOf(withoutIds(text))).toEqual(await plainEvents(chat))
    })
  })

  it('of [slices] comes cut inside characters and between the ends of line, and says the same', async () => {
    await withOpenAi({}, async ({ chat, rawChat }) => {
      const answer = await rawChat('[slices] hi', STREAM)
      const pieces = answer.pieces.map(({ bytes }) => bytes)
      expect(pieces.some((piece) => piece.toString('utf8').endsWith('\ufffd'))).toBe(true)
      expect(pieces.some((piece) => piece.toString('latin1') === '\n')).toBe(true)
      expect(dataOf(withoutIds(answer.text))).toEqual(await plainEvents(chat))
    })
  })

  it('of [slices] and [crlf] is cut between CR and LF', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const { pieces, text } = await rawChat('[slices][crlf] hi', STREAM)
      const ends = pieces.map(({ bytes }) => bytes.toString('latin1'))
      expect(ends.some((piece, index) => piece.endsWith('\r') && ends[index + 1] === '\n')).toBe(true)
      expect(dataOf(text).at(-1)).toBe('[DONE]')
    })
  })
})

describe('a stream that takes its time', () => {
  it('sends each event on its own, [gap] apart', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const { pieces } = await rawChat('[gap:25] hi', STREAM)
      expect(pieces.map(({ bytes }) => bytes.toString().match(/^data/gm)?.length)).toEqual(pieces.map(() => 1))
      const times = pieces.map(({ atMilliseconds }) => atMilliseconds)
      // Since the request began; timers may fire a moment early, never by a whole gap.
      expect(times.at(-1)).toBeGreaterThan((pieces.length - 3) * 25)
    })
  })

  it('has a short gap by default, which the starter may change', async () => {
    const timeOf = async (options: OpenAiSimulatorOptions) => {
      const simulator = await startOpenAiSimulator(options)
      const { pieces } = await rawPost(simulator.port, chatBody('[long:20]', { stream: true }))
      await simulator.close()
      return pieces.at(-1)?.atMilliseconds
    }
    // Twenty words and the end: twenty-one gaps. A timer may fire a moment early.
    const [usual, quick] = [await timeOf({}), await timeOf({ gapMilliseconds: 0 })]
    expect(usual).toBeGreaterThan(20 * 14)
    expect(quick).toBeLessThan(usual ?? 0)
  })

  it('of [slow] has no byte before, whatever comes then', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const answers = await Promise.all(
        ['[slow:0.2]', '[slow:0.2][error:500]', '[slow:0.2][reset]'].map((prompt) => rawChat(prompt, STREAM)),
      )
      expect(answers.map(({ head }) => head.slice(9, 12))).toEqual(['200', '500', ''])
      expect(answers.every(({ firstByteMilliseconds }) => firstByteMilliseconds > 195)).toBe(true)
    })
  })

  it('of [silent] falls silent after the third event and goes on', async () => {
    await withOpenAi({}, async ({ rawChat }) => {
      const { pieces, text } = await rawChat('[silent:0.3] hi', STREAM)
      const times = pieces.map(({ atMilliseconds }) => atMilliseconds)
      const waits = times.map((time, index) => time - (times[index - 1] ?? 0))
      expect(times[3]).toBeGreaterThan(295)
      expect(waits.indexOf(Math.max(...waits))).toBe(3)
      expect(dataOf(text).at(-1)).toBe('[DONE]')
    })
  })
})
