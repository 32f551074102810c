import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { keepPassingFields } from '#core/parameters/keep-passing-fields.ts'
import { listedFields, passingFields } from '#core/parameters/passing-fields.ts'

const chat = (text: string, added: readonly string[] = []) => keepPassingFields(text, passingFields('chat', added))

describe('a body of which only listed fields pass', () => {
  it.each([
    ['{"Model":"x","model":"y","MODEL":"z"}', '{"model":"y"}', ['Model', 'MODEL']],
    ['{ "x" : [1,{"n":1}] , "n" : 2 }', '{ "n" : 2 }', ['x']],
    ['{ "n" : 2 , "x" : "}" }', '{ "n" : 2 }', ['x']],
    ['{ "n" : 2 , "x" : "}" , "seed":1.0 }', '{ "n" : 2, "seed":1.0 }', ['x']],
    ['{"n":1 , "seed" :2}', '{"n":1 , "seed" :2}', []],
    ['{"\\u006e":1,"\\u004e":2}', '{"\\u006e":1}', ['N']],
    ['{"a\\"b":"\\\\","n":1}', '{"n":1}', ['a"b']],
    ['{"x":1}', '{}', ['x']],
    ['{ "x":1 }', '{ }', ['x']],
    ['{}', '{}', []],
    ['{"__proto__":1,"constructor":2,"n":3}', '{"n":3}', ['__proto__', 'constructor']],
    ['{"":1,"n":-0.0e1}', '{"n":-0.0e1}', ['']],
    [' {"n":1} ', ' {"n":1} ', []],
  ])('of %s keeps every other byte', (text, passed, ignored) => {
    expect(chat(text)).toStrictEqual({ text: passed, ignored })
  })

  it('looks into the objects that the gateway reads, in lists of any depth', () => {
    const { text, ignored } = chat(
      `{"messages":[ {"role":"user","Content":"a","content":[{"type":"text","Type":"image_url","text":"b"},
        {"type":"image_url","image_url":{"URL":"c","url":"d"}}]},{"role":"assistant","tool_calls":[{"id":"e","Id":"f",
        "function":{"name":"g","arguments":"{}","Name":"h"}}]}],"tools":[{"type":"function","Function":{},"function":{"name":"i"}}]}`,
    )
    expect(JSON.parse(text)).toStrictEqual({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'b' },
            { type: 'image_url', image_url: { url: 'd' } },
          ],
        },
        { role: 'assistant', tool_calls: [{ id: 'e', function: { name: 'g', arguments: '{}' } }] },
      ],
      tools: [{ type: 'function', function: { name: 'i' } }],
    })
    expect(ignored).toStrictEqual([
      'messages.Content',
      'messages.content.Type',
      'messages.content.image_url.URL',
      'messages.tool_calls.Id',
      'messages.tool_calls.function.Name',
      'tools.Function',
    ])
    expect(chat('{"messages":[[[{"role":"user","x":1}]]]}').text).toBe('{"messages":[[[{"role":"user"}]]]}')
  })

  it('of a content part passes the one field that its type names, whatever the order and the spelling, and what a channel adds', () => {
    const others = '"file":{"file_id":"f"},"image_url":{"url":"c"},"refusal":"r","input_audio":{"data":"A"}'
    const inContent = (part: string) => `{"messages":[{"role":"user","content":[${part}]}]}`
    const part = `{"text":"a", ${others}, "t\\u0079pe":"te\\u0078t" }`
    expect(chat(inContent(part))).toStrictEqual({
      text: inContent('{"text":"a", "t\\u0079pe":"te\\u0078t" }'),
      ignored: ['input_audio', 'image_url', 'file', 'refusal'].map((name) => `messages.content.${name}`),
    })
    const { text } = chat(inContent(`{"type":"image_url",${others}}`), ['messages.content.input_audio'])
    expect(JSON.parse(text).messages[0].content).toStrictEqual([
      { type: 'image_url', image_url: { url: 'c' }, input_audio: { data: 'A' } },
    ])
    const twice = chat(inContent('{"type":"file","text":"a","file":{"file_id":"f"},"type":"text"}')).text
    expect(JSON.parse(twice).messages[0].content).toStrictEqual([{ text: 'a', type: 'text' }])
  })

  it('leaves schemas, response formats and metadata as they are', () => {
    const schema = '{"type":"object","Model":1,"properties":{"N":{"enum":[1.0,9007199254740993]},"N":{}}}'
    const text = `{"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}],"response_format":{"type":"json_schema","json_schema":{"schema":${schema}}},"metadata":{"Model":"a"},"logit_bias":{"50256":-100}}`
    expect(chat(text)).toStrictEqual({ text, ignored: [] })
  })

  it('of an inner name that is written twice lets the last one pass, which was validated', () => {
    const text = '{"messages":[{"role":"user","content":[{"type":"image_url","text":"a","type" : "text" }]}]}'
    const { text: passed, ignored } = chat(text)
    expect(passed).toBe('{"messages":[{"role":"user","content":[{"text":"a","type" : "text" }]}]}')
    expect(ignored).toStrictEqual(['messages.content.type'])
    expect(chat('{"tools":[{"Type":1,"type":2,"x":3,"type":4,"type":5}]}').text).toBe('{"tools":[{"type":5}]}')
  })

  it('lets a channel add fields at any listed place, and remembers no more names than a header carries', () => {
    const text = '{"top_k":1,"Top_K":2,"messages":[{"role":"assistant","reasoning_content":"a","reasoning":"b"}]}'
    expect(chat(text, ['top_k', 'messages.reasoning_content'])).toStrictEqual({
      text: '{"top_k":1,"messages":[{"role":"assistant","reasoning_content":"a"}]}',
      ignored: ['Top_K', 'messages.reasoning'],
    })
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}`.padEnd(500, 'x'), 1]))
    const { ignored } = chat(JSON.stringify(many))
    expect(ignored).toHaveLength(20)
    expect(ignored.every((name) => name.length <= 64)).toBe(true)
  })

  it('means what the body means without the other fields, whatever they hold', () => {
    const names = fc.constantFrom('model', 'input', 'user', 'a', '"', '\\', '}', ',', '{"x":', 'User')
    const objects = fc.dictionary(names, fc.jsonValue({ maxDepth: 4 }))
    fc.assert(
      fc.property(objects, fc.constantFrom(undefined, 1, '\t\r\n'), (object, space) => {
        const whole: Record<string, unknown> = Object(parseJsonText(JSON.stringify(object)))
        const listed = Object.entries(whole).filter(([name]) => ['model', 'input', 'user'].includes(name))
        const { text } = keepPassingFields(JSON.stringify(object, null, space), listedFields('embeddings'))
        expect(parseJsonText(text)).toStrictEqual(Object.fromEntries(listed))
      }),
    )
  })

  it.each<[string, () => string]>([
    ['half a million foreign fields', () => `{${Array.from({ length: 500_000 }, (_, i) => `"${i}":0`).join()},"n":1}`],
    ['a text of quotes and backslashes', () => JSON.stringify({ user: '"\\'.repeat(1_200_000) })],
    ['a list of five megabytes', () => JSON.stringify({ stop: Array(2_500_000).fill(0) })],
    [
      'a hundred thousand parts',
      () => JSON.stringify({ messages: [{ content: Array(100_000).fill({ type: 'text', x: 1 }) }] }),
    ],
  ])('reads %s in a moment', (_, write) => {
    const text = write()
    const before = process.cpuUsage()
    chat(text)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(1000)
  })
})
