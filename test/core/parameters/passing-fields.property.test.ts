import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { imageRequestBody, parseImageRequest } from '#core/contract/image-request.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { keepPassingFields } from '#core/parameters/keep-passing-fields.ts'
import { listedFields, type PassingFields, pathOf } from '#core/parameters/passing-fields.ts'
import { upstreamChatBody } from '#core/relay/chat-call.ts'
import { CHAT_MODEL, chatCall, PLAIN_CHANNEL } from '../relay/completing.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

const LISTS = ['chat', 'completions', 'embeddings', 'images'] as const

/** Every listed field, at the place where it stands. */
const LISTED = LISTS.flatMap((list) => fieldsOf(listedFields(list)).map((path) => ({ list, path })))

function fieldsOf({ fields }: PassingFields): string[] {
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

describe('a field that is written in another way than it is listed', () => {
  it('passes by its exact name only, at every listed place, escaped or not', () => {
    expect(LISTED.length).toBeGreaterThan(90)
    for (const { list, path } of LISTED) {
      const name = path.split('.').at(-1) ?? ''
      fc.assert(
        fc.property(foldingsOf(name), fc.boolean(), (folding, isEscaped) => {
          const exact = bodyWith(path, name, isEscaped)
          expect(keepPassingFields(exact, listedFields(list))).toStrictEqual({ text: exact, ignored: [] })
          const { text, ignored } = keepPassingFields(bodyWith(path, folding, isEscaped), listedFields(list))
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
        const call = { upstreamModel: 'up', image: request, passing: listedFields('images') }
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
