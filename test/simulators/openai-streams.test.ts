import { describe, expect, it } from '@jest/globals'
import { at, dataOf, eventsOf, recorded, shapeOf, useOpenAi } from './simulator-client.ts'

const MEGABYTE = 1024 * 1024
const STREAM = { stream: true, max_tokens: 6 }
const USAGE = { stream: true, stream_options: { include_usage: true } }
const TOOL = {
  type: 'function' as const,
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

/** The shapes of a stream in order, each kind of event once: how many words there are does not matter. */
function shapesOf(text: string): unknown[] {
  const shapes = dataOf(text).map((data) => JSON.stringify(data === '[DONE]' ? data : shapeOf(JSON.parse(data))))
  return shapes.filter((shape, index) => shape !== shapes[index - 1])
}

/** The events of a stream, compact, without what differs between two requests. */
const compactOf = (text: string) =>
  dataOf(text.replaceAll(/chatcmpl-[0-9a-f]+/g, 'ID')).map((data) =>
    data === '[DONE]' ? data : JSON.stringify(JSON.parse(data)),
  )

describe('a chat stream', () => {
  it.each([
    ['chat_stream', undefined],
    ['chat_stream_usage', undefined],
    ['chat_stream_tools', { tools: [TOOL], stream: true }],
  ])('has the events of the recorded %s', async (name, more) => {
    const { chat, post } = await useOpenAi()
    const { request, response } = recorded(`oai_${name}`)
    const { headers, text } = await (more ? chat('Oslo', more) : post('/chat/completions', request.body))
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(shapesOf(text)).toEqual(shapesOf(response.body_text ?? ''))
  })

  it('says what the whole response says, with choices that alternate', async () => {
    const { chat } = await useOpenAi()
    const whole = await chat('Say hi', { n: 2 })
    const events = eventsOf((await chat('Say hi', { n: 2, ...USAGE })).text)
    for (const choice of [0, 1]) {
      const own = events.filter((event) => at(event, 'choices', 0, 'index') === choice)
      const said = own.map((event) => at(event, 'choices', 0, 'delta', 'content') ?? '').join('')
      expect(said).toBe(at(whole.body, 'choices', choice, 'message', 'content'))
    }
    expect(at(events.at(-1), 'usage')).toEqual(at(whole.body, 'usage'))
    const indexes = events.map((event) => at(event, 'choices', 0, 'index'))
    expect(indexes.slice(0, 6)).toEqual([0, 1, 0, 1, 0, 1])
  })

  it('has growing usage on every event with [usage-every]', async () => {
    const { chat } = await useOpenAi()
    const events = eventsOf((await chat('[usage-every] Say hi', { stream: true })).text)
    const counts = events.map((event) => Number(at(event, 'usage', 'completion_tokens')))
    const whole = await chat('[usage-every] Say hi')
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect([counts[0], counts.at(-1)]).toEqual([0, at(whole.body, 'usage', 'completion_tokens')])
  })

  it('has usage with the finish reason alone with [usage-finish]', async () => {
    const { chat } = await useOpenAi()
    const events = eventsOf((await chat('[usage-finish] Say hi', USAGE)).text)
    expect(events.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { total_tokens: expect.any(Number) },
    })
    expect(events.slice(0, -1).every((event) => at(event, 'usage') === null)).toBe(true)
  })

  it('has no usage with [no-usage], streamed or whole', async () => {
    const { chat } = await useOpenAi()
    expect((await chat('[no-usage] Say hi', USAGE)).text).not.toContain('usage')
    expect((await chat('[no-usage] Say hi')).text).not.toContain('usage"')
  })
})

describe('a broken stream', () => {
  it.each([
    ['[cut]', 3],
    ['[cut:1]', 1],
    ['[cut:0]', 0],
  ])('of %s has %i events and dies before its end', async (word, count) => {
    const { rawChat } = await useOpenAi()
    const { head, text, isWhole } = await rawChat(`${word} hi`, STREAM)
    expect(head).toMatch(/^HTTP\/1.1 200/)
    expect([eventsOf(text).length, isWhole]).toEqual([count, false])
  })

  it('of [reset] has no byte', async () => {
    const { rawChat } = await useOpenAi()
    expect(await rawChat('[reset] hi', STREAM)).toMatchObject({ head: '', text: '', wasReset: true })
  })

  it('of [error-mid] ends in order after the recorded error, without [DONE]', async () => {
    const { rawChat } = await useOpenAi()
    const { text, isWhole } = await rawChat('[error-mid] hi', STREAM)
    const error = eventsOf(recorded('oai_chat_stream_error').response.body_text ?? '').at(-1)
    expect([dataOf(text).length, JSON.parse(dataOf(text).at(-1) ?? ''), isWhole]).toEqual([4, error, true])
  })

  it('of [no-done] ends in order after the finish reason', async () => {
    const { rawChat } = await useOpenAi()
    const { text, isWhole } = await rawChat('[no-done] hi', STREAM)
    expect(at(eventsOf(text).at(-1), 'choices', 0, 'finish_reason')).toBe('length')
    expect([text.includes('[DONE]'), isWhole]).toEqual([false, true])
  })

  it('of [bad-json] has one event that is no JSON and goes on', async () => {
    const { rawChat } = await useOpenAi()
    const data = dataOf((await rawChat('[bad-json] hi', STREAM)).text)
    const [broken = ''] = data.splice(3, 1)
    expect(() => JSON.parse(broken)).toThrow(SyntaxError)
    expect(data.pop()).toBe('[DONE]')
    expect(data.map((event) => at(JSON.parse(event), 'object'))).toEqual(data.map(() => 'chat.completion.chunk'))
  })
})

describe('a stream in another form', () => {
  it.each([
    ['[crlf]', (text: string) => expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)],
    ['[comments]', (text: string) => expect(text.match(/^: PING$/gm)).toHaveLength(dataOf(text).length)],
    ['[multi-data]', (text: string) => expect(text.split('\n\n')[0]?.match(/^data: /gm)?.length).toBeGreaterThan(5)],
    ['[no-space]', (text: string) => expect(text).not.toContain('data: ')],
  ])('of %s says the same', async (word, check) => {
    const { chat } = await useOpenAi()
    const { text } = await chat(`${word} hi`, STREAM)
    check(text)
    expect(compactOf(text)).toEqual(compactOf((await chat('[gap:0] hi', STREAM)).text))
  })

  it('of [slices] is cut inside characters and between two ends of line, and says the same', async () => {
    const { chat, rawChat } = await useOpenAi()
    const { pieces, text } = await rawChat('[slices] hi', STREAM)
    expect(pieces.some(({ bytes }) => bytes.toString('utf8').endsWith('\ufffd'))).toBe(true)
    expect(pieces.some(({ bytes }) => bytes.toString('latin1') === '\n')).toBe(true)
    expect(compactOf(text)).toEqual(compactOf((await chat('[gap:0] hi', STREAM)).text))
  })

  it('of [slices][crlf] is cut between CR and LF', async () => {
    const { rawChat } = await useOpenAi()
    const ends = (await rawChat('[slices][crlf] hi', STREAM)).pieces.map(({ bytes }) => bytes.toString('latin1'))
    expect(ends.some((piece, index) => piece.endsWith('\r') && ends[index + 1] === '\n')).toBe(true)
  })

  it('of [huge] has one large event', async () => {
    const { chat } = await useOpenAi()
    const { text } = await chat('[huge:2] hi', { stream: true })
    expect(text.split('\n\n').filter((event) => event.length > MEGABYTE)).toHaveLength(1)
  })
})

describe('a slow response', () => {
  it('sends each event on its own, [gap] apart', async () => {
    const { rawChat } = await useOpenAi()
    const { pieces } = await rawChat('[gap:25] hi', STREAM)
    expect(pieces.map(({ bytes }) => bytes.toString().match(/^data/gm)?.length)).toEqual(pieces.map(() => 1))
    // Since the request began; a timer may fire a moment early, never by a whole gap.
    expect(pieces.at(-1)?.atMs).toBeGreaterThan((pieces.length - 3) * 25)
  })

  it('has the gaps of its starter', async () => {
    const { rawChat } = await useOpenAi({ gapMilliseconds: 15 })
    // Twenty words and the end: twenty-one gaps of 15 ms.
    expect((await rawChat('[long:20]', { stream: true })).pieces.at(-1)?.atMs).toBeGreaterThan(20 * 14)
  })

  it('of [slow] has no byte before', async () => {
    const { rawChat } = await useOpenAi()
    const prompts = ['[slow:0.2]', '[slow:0.2][error:500]', '[slow:0.2][reset]']
    const responses = await Promise.all(prompts.map((prompt) => rawChat(prompt, STREAM)))
    expect(responses.map(({ head }) => head.slice(9, 12))).toEqual(['200', '500', ''])
    expect(responses.every(({ firstByteMs }) => firstByteMs > 195)).toBe(true)
  })

  it('of [silent] falls silent after the third event of a stream and in the middle of a whole body', async () => {
    const { rawChat } = await useOpenAi()
    const { pieces, text } = await rawChat('[silent:0.3] hi', STREAM)
    const waits = pieces.map(({ atMs }, index) => atMs - (pieces[index - 1]?.atMs ?? 0))
    expect(waits.indexOf(Math.max(...waits))).toBe(3)
    expect([Math.max(...waits) > 295, dataOf(text).at(-1)]).toEqual([true, '[DONE]'])
    const whole = await rawChat('[silent:0.3] hi')
    expect([whole.isWhole, (whole.pieces.at(-1)?.atMs ?? 0) - whole.firstByteMs > 250]).toEqual([true, true])
  })

  it('ends as soon as the client has left', async () => {
    const { simulator, chat } = await useOpenAi()
    const body = JSON.stringify({ model: 'a', messages: [{ role: 'user', content: '[slow:300]' }] })
    const headers = { authorization: 'Bearer K' }
    const left = AbortSignal.timeout(50)
    await expect(
      fetch(`${simulator.baseUrl}/chat/completions`, { method: 'POST', headers, body, signal: left }),
    ).rejects.toThrow()
    expect((await chat('hi')).status).toBe(200)
  })

  it('of [hang] never comes, while others are served', async () => {
    const { chat, simulator } = await useOpenAi()
    const hanging = expect(chat('[hang] hi')).rejects.toThrow('fetch failed')
    expect((await chat('hi')).status).toBe(200)
    await simulator.close()
    await hanging
  })
})

describe('a whole response', () => {
  it.each(['[cut]', '[cut:0]', '[error:500][cut]'])('of %s promises more bytes than it sends', async (word) => {
    const { rawChat } = await useOpenAi()
    const { head, text, isWhole } = await rawChat(`${word} hi`)
    const promised = Number(/content-length: (\d+)/.exec(head)?.[1])
    const sent = word === '[cut:0]' ? 0 : Math.floor(promised / 2)
    expect([isWhole, Buffer.byteLength(text)]).toEqual([false, sent])
  })

  it('of [slices] says the same', async () => {
    const { chat } = await useOpenAi()
    expect(at((await chat('[slices] hi')).body, 'choices')).toEqual(at((await chat('hi')).body, 'choices'))
  })

  it('of [bad-json] is no JSON', async () => {
    const { chat } = await useOpenAi()
    const { status, headers, body } = await chat('[bad-json] hi')
    expect([status, headers.get('content-type'), body]).toEqual([200, 'application/json', undefined])
  })

  it.each([{}, STREAM])('of [html] with %j is a page', async (more) => {
    const { chat } = await useOpenAi()
    const { status, headers, text } = await chat('[html] hi', more)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toMatch(/^<!doctype html>/)
  })

  it('of [huge] is large, in words or white space', async () => {
    const { post, chat } = await useOpenAi()
    const said = await chat('[huge:2] hi')
    expect(at(said.body, 'choices', 0, 'message', 'content', 'length')).toBe(2 * MEGABYTE)
    const failed = await chat('[huge:2][error:500] hi')
    expect([failed.text.length, at(failed.body, 'error', 'type')]).toEqual([2 * MEGABYTE, 'server_error'])
    const embedded = await post('/embeddings', { model: 'text-embedding-3-small', input: '[huge:2]' })
    expect([embedded.text.length, at(embedded.body, 'object')]).toEqual([2 * MEGABYTE, 'list'])
  })
})
