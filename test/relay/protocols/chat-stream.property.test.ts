import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree } from '#core/json/json-fields.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { microcredits } from '#core/money.ts'
import { allSteps } from '#core/relay/event-stream.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { bytesOf, writtenObject } from '../../core/relay/written-json.ts'

const PUBLIC_MODEL = 'public "id"'
const modelJson = JSON.stringify(PUBLIC_MODEL)

const hiddenFields = fc
  .subarray(['usage.is_byok', 'usage.usage.cost', 'provider', 'id', 'provider.usage', 'cost'])
  .map((paths) => fieldTree([...paths, 'usage.cost']))

/** Bytes, one character each, as a connection delivers them. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1')

function stream(hidden: ReturnType<typeof fieldTree>, costOf = () => microcredits(5_195) as ReturnType<CostOf>) {
  return new ChatStream({
    publicModel: PUBLIC_MODEL,
    hidden,
    relaysUsage: true,
    choices: 1,
    withoutCredentials: (text) => text,
    costOf,
  })
}

type CostOf = ConstructorParameters<typeof ChatStream>[0]['costOf']

/** Pushes the bytes in chunks that end at these places, and at the end. */
function push(relay: ChatStream, bytes: string, places: readonly number[]): string {
  const ends = [...places.filter((place) => place < bytes.length), bytes.length].toSorted((left, right) => left - right)
  const pushed = ends.map((end, index) => allSteps(relay.push(bytes.slice(ends[index - 1] ?? 0, end))))
  return pushed.join('') + (relay.end() ?? '')
}

/** What stands around the data of an event, none of which is the gateway's. */
const around = fc.constantFrom(
  { before: 'data: ', after: '\n\n' },
  { before: 'data:', after: '\r\n\r\n' },
  { comment: ': a comment\nid: 7\n', before: 'event: message\ndata:  ', after: '\n\n' },
  { comment: ':\r\r', before: 'data: ', after: '\n\n' },
  { before: 'data: ', after: '\r\r' },
)

const written = fc.record({
  // The data of one line: an event whose data stands on several lines has a test of its own.
  json: writtenObject.filter((object) => !/[\r\n]/.test(bytesOf(object))),
  around,
})

it('ChatStream relays every byte of data and event lines but the models and what is hidden, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(
      fc.array(written, { maxLength: 5 }),
      hiddenFields,
      fc.array(fc.nat(2_000)),
      (events, hidden, places) => {
        const render = (change: object) =>
          events.map(({ json, around: { before, after } }) => `${before}${bytesOf(json, change)}${after}`).join('')
        const commented = events
          .map(({ json, around: { comment = '', before, after } }) => `${comment}${before}${bytesOf(json)}${after}`)
          .join('')
        const relayed = push(
          stream(hidden, () => undefined),
          latin1(`${commented}data: [DONE]\n\n`),
          places,
        )
        expect(relayed.replace(/data: \[DONE\]\n\n$/, '')).toBe(latin1(render({ hidden, modelJson })))
      },
    ),
    { numRuns: 300 },
  )
})

const count = fc.nat(5_000)
const usage = fc.option(
  fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    cost: fc.double({ noNaN: true }),
    cost_details: fc.jsonValue(),
    is_byok: fc.boolean(),
    cost_in_usd_ticks: count,
  }),
)
const chunk = fc.record(
  {
    provider: fc.string(),
    model: fc.constant('upstream'),
    choices: fc.constantFrom(
      [],
      [{ index: 0, delta: { content: 'ü"cost":1' } }],
      [{ index: 0, delta: {}, finish_reason: 'stop' }],
    ),
    usage,
    error: fc.constantFrom(null, { message: 'no' }),
  },
  { requiredKeys: ['choices'] },
)
const SHIPPED = fieldTree(['usage.cost', 'usage.cost_details', 'usage.is_byok', 'usage.cost_in_usd_ticks', 'provider'])

it('ChatStream shows the price of the gateway or none, never that of the upstream, in events and errors alike', () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), fc.array(fc.nat(4_000)), (chunks, places) => {
      const bytes = latin1(`${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`)
      const relayed = push(stream(SHIPPED), bytes, places)
      expect(relayed).toBe(push(stream(SHIPPED), bytes, []))
      for (const [, data = ''] of relayed.matchAll(/data: (\{.*\})\n\n/g)) {
        const shown: Record<string, unknown> = Object(parseJsonText(data))
        expect(shown).not.toHaveProperty('provider')
        expect([undefined, null]).toContain(Object(shown.usage).cost_details ?? Object(shown.usage).is_byok)
        expect([undefined, 0.005195]).toContain(Object(shown.usage).cost)
      }
    }),
    { numRuns: 300 },
  )
})
