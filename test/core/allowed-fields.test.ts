import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type AllowedFields, allowedFields, keepAllowedFields, listedFields, pathOf } from '#core/allowed-fields.ts'
import { imageRequestBody, parseImageRequest } from '#core/api/image-request.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { upstreamChatBody } from '#lambdas/relay/protocols/chat.ts'
import { CHAT_MODEL, chatCall, PLAIN_CHANNEL } from '../relay/protocols/completing.ts'
import { shippedCatalogue } from './shipped-catalogue.ts'

const chat = (text: string, added: readonly string[] = []) => keepAllowedFields(text, allowedFields('chat', added))

describe('keepPassingFields: a body', () => {
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

  it('relays of a content part the one field that its type names, whatever the order and the spelling, and what a channel adds', () => {
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
        const { text } = keepAllowedFields(JSON.stringify(object, null, space), listedFields('embeddings'))
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
    // A second on a slow machine; a way that looks back at each character takes minutes.
    expect((user + system) / 1000).toBeLessThan(10_000)
  })
})

const LISTS = ['chat', 'completions', 'embeddings', 'images'] as const

/** Every listed field, at the place where it stands. */
const LISTED = LISTS.flatMap((list) => fieldsOf(listedFields(list)).map((path) => ({ list, path })))

function fieldsOf({ fields }: AllowedFields): string[] {
  return [...fields].flatMap(([name, inner]) => [
    name,
    ...(inner === 'whole' ? [] : fieldsOf(inner).map((rest) => pathOf(name, rest))),
  ])
}

/** Letters that Go's encoding/json takes for the same one. */
const TWINS: Readonly<Record<string, readonly string[]>> = {
  s: ['s', 'S', 'ſ'],
  k: ['k', 'K', '\u212a'],
  _: ['_', '', '-'],
}

/** Names that an upstream may take for a listed one: by case, by look, or without its underscores. */
function foldingsOf(name: string): fc.Arbitrary<string> {
  const letters = [...name].map((letter) => fc.constantFrom(...(TWINS[letter] ?? [letter, letter.toUpperCase()])))
  const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const whole = fc.constantFrom(name.toUpperCase(), camel, name[0]?.toUpperCase() + camel.slice(1))
  return fc
    .oneof(
      fc.tuple(...letters).map((all) => all.join('')),
      whole,
    )
    .filter((folding) => folding !== name)
}

/** Written as it is, or with every character escaped. */
function written(name: string, isEscaped: boolean): string {
  const escaped = [...name].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return isEscaped ? `"${escaped.join('')}"` : JSON.stringify(name)
}

/** A body with one field at a path, and the field alone with its decoded name. */
function bodyWith(path: string, name: string, isEscaped: boolean): string {
  const parents = path.split('.').slice(0, -1)
  return parents.reduceRight((inner, parent) => `{"${parent}":[${inner}]}`, `{${written(name, isEscaped)}:7}`)
}

describe('a field that is written in another way than listedFields has it', () => {
  it('is relayed by its exact name only, at every listed place, escaped or not', () => {
    expect(LISTED.length).toBeGreaterThan(90)
    for (const { list, path } of LISTED) {
      const name = path.split('.').at(-1) ?? ''
      fc.assert(
        fc.property(foldingsOf(name), fc.boolean(), (folding, isEscaped) => {
          const exact = bodyWith(path, name, isEscaped)
          expect(keepAllowedFields(exact, listedFields(list))).toStrictEqual({ text: exact, ignored: [] })
          const { text, ignored } = keepAllowedFields(bodyWith(path, folding, isEscaped), listedFields(list))
          expect(text).not.toContain('7')
          expect(ignored).toStrictEqual([[...path.split('.').slice(0, -1), folding].join('.')])
        }),
        { numRuns: 20 },
      )
    }
  })
})

/** What an upstream reads that takes the last of all names that it cannot tell from each other. */
function readLoosely(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(readLoosely)
  }
  if (typeof value !== 'object' || value === null) {
    return value
  }
  const entries = Object.entries(value).map(([name, inner]) => [foldedLikeGo(name), readLoosely(inner)] as const)
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)))
}

function foldedLikeGo(name: string): string {
  return name.replaceAll(/[_-]/g, '').toUpperCase().toLowerCase()
}

const hostile = fc.constantFrom<unknown>('dear-model', 10, 16_384, true, false, null, [], {})

function foldedFields(names: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const name = fc.constantFrom(...names).chain(foldingsOf)
  return fc.dictionary(name, hostile, { maxKeys: 6 })
}

const CHAT_FIELDS = [
  'model',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'messages',
  'stop',
  'tools',
]

function shippedChat() {
  const model = shippedCatalogue.findRelayModel(CHAT_MODEL, { kind: 'chat', allowed: null })
  if (model === undefined) {
    throw new TypeError('there is no chat model')
  }
  return model
}

describe('an upstream that folds names', () => {
  it('reads of a chat what the gateway has checked and priced', () => {
    const model = shippedChat()
    const chat = { model, stream: true, streamOptions: {}, askedLimits: { max_tokens: 5 } }
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
    fc.assert(
      fc.property(
        foldedFields(CHAT_FIELDS),
        foldedFields(['role', 'content', 'tool_calls']),
        foldedFields(['type', 'text', 'image_url']),
        foldedFields(['include_usage']),
        (top, inMessage, inPart, inOptions) => {
          const message = { role: 'user', content: [{ type: 'text', text: 'hi', ...inPart }, image], ...inMessage }
          const options = { include_usage: false, ...inOptions }
          const body = {
            model: 'm',
            n: 1,
            max_tokens: 5,
            stream: true,
            stream_options: options,
            ...top,
            messages: [message],
          }
          const asked = { ...chat, streamOptions: options }
          const { text } = upstreamChatBody(JSON.stringify(body), {
            upstreamModel: 'up',
            chat: asked,
            channel: PLAIN_CHANNEL,
          })
          expect(readLoosely(parseJsonText(text))).toStrictEqual(
            readLoosely({
              model: 'up',
              n: 1,
              max_tokens: 5,
              stream: true,
              stream_options: { include_usage: true },
              messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }, image] }],
            }),
          )
        },
      ),
    )
  })

  it('reads of a legacy completion what the gateway has checked and priced', () => {
    fc.assert(
      fc.property(foldedFields([...CHAT_FIELDS, 'prompt', 'best_of']), (folded) => {
        expect(chatCall(folded)).toStrictEqual({
          model: 'upstream-chat',
          messages: [{ role: 'user', content: 'Once' }],
          max_tokens: 16,
        })
      }),
    )
  })

  it('reads of an image request what the gateway has checked and priced', () => {
    fc.assert(
      fc.property(foldedFields(['model', 'n', 'size', 'quality', 'style', 'stream', 'prompt']), (folded) => {
        const body = { model: 'image-v3', prompt: 'a fox', ...folded }
        const request = parseImageRequest(body, { catalogue: shippedCatalogue, allowedModels: null })
        const call = { upstreamModel: 'up', image: request, allowed: listedFields('images') }
        expect(parseJsonText(imageRequestBody(JSON.stringify(body), call).text)).toStrictEqual({
          model: 'up',
          prompt: 'a fox',
          n: 1,
          size: '1024x1024',
          quality: 'standard',
        })
      }),
    )
  })
})
