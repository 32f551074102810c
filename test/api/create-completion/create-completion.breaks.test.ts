import type { ServerResponse } from 'node:http'
import { expect, it } from '@jest/globals'
import {
  CHAT,
  chatEvent,
  DONE,
  FINISH,
  openStream,
  type RelayOperation,
  sendStream,
  startRelayRig,
  USAGE_CHUNK,
  word,
} from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { textsOf } from '../../relay/protocols/completion-chunks.ts'

const BODIES = {
  'create-chat-completion': { model: CHAT, stream: true, messages: [{ role: 'user', content: 'hi' }], max_tokens: 900 },
  'create-completion': { model: CHAT, stream: true, prompt: 'hi', max_tokens: 900 },
} as const
const OPERATIONS = ['create-chat-completion', 'create-completion'] as const

const rig = useOpened(() => startRelayRig({ channels: 2 }))

const breakAfter = (events: string, milliseconds: number) => (response: ServerResponse) =>
  void openStream(response).write(events, () => setTimeout(() => response.destroy(), milliseconds))

async function billOf(operation: RelayOperation & keyof typeof BODIES, client: object): Promise<bigint> {
  const { id, key } = await rig.tenant('10')
  await rig.send(BODIES[operation], { operation, key, client })
  const [row] = await rig.rows(id)
  expect(row?.kind).toBe('settle')
  return row?.actual ?? -1n
}

const DELTAS = [
  ['reasoning', { reasoning_content: 'x'.repeat(2_000) }],
  ['tool arguments', { tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(2_000) } }] }],
  ['a refusal', { refusal: 'x'.repeat(2_000) }],
] as const

it.each(DELTAS.flatMap(([name, delta]) => OPERATIONS.map((operation) => [name, operation, delta] as const)))(
  'a stream that breaks off or is left bills %s as generated (%s)',
  async (_, operation, delta) => {
    const events = word('Hi') + chatEvent({ choices: [{ index: 0, delta }] })
    for (const [milliseconds, client] of [
      [30, {}],
      [300, { leavesAfterBytes: 1 }],
    ] as const) {
      rig.upstreams[0]?.answerWith(breakAfter(events, milliseconds))
      // 501 tokens at 2,000 millionths, and the prompt.
      const bill = await billOf(operation, client)
      expect(bill).toBeGreaterThan(1_002_000n)
      expect(bill).toBeLessThan(1_002_000n + 50_000n)
    }
  },
)

it.each(OPERATIONS)('a usage inside of an error is billed (%s)', async (operation) => {
  const error = chatEvent({ error: { message: 'boom' }, usage: { prompt_tokens: 50, completion_tokens: 60 } })
  rig.upstreams[0]?.answerWith((response) => void openStream(response).end(word('Hi') + error))
  expect(await billOf(operation, {})).toBe(170_000n)
})

it('create-completion asks the next channel for a prompt whose stream breaks off before its first word, after others too', async () => {
  const { id, key } = await rig.tenant('10')
  const [first, second] = rig.upstreams
  const before = rig.upstreams.map(({ calls }) => calls.length)
  const good = [word('good'), FINISH, USAGE_CHUNK, DONE]
  first?.answerWith((response, { text }) =>
    text.includes('unlucky') ? breakAfter(': \n\n', 0)(response) : sendStream(response, ...good),
  )
  second?.answerWith((response) => sendStream(response, ...good))
  const body = { model: CHAT, stream: true, prompt: ['lucky', 'unlucky', 'lucky again'] }
  const { text } = await rig.send(body, { operation: 'create-completion', key })
  expect([...textsOf(text).values()]).toStrictEqual(Array(3).fill({ text: 'good', reason: 'stop' }))
  expect(rig.upstreams.map(({ calls }, index) => calls.length - (before[index] ?? 0))).toStrictEqual([3, 1])
  expect((await rig.rows(id))[0]).toMatchObject({ kind: 'settle', actual: 45_000n })
})

it('create-completion 502: every channel breaks off its stream before the first word, and nothing is billed', async () => {
  const { id, key } = await rig.tenant('10')
  for (const upstream of rig.upstreams) {
    upstream.answerWith(breakAfter(': \n\n', 0))
  }
  const { statusCode } = await rig.send(BODIES['create-completion'], { operation: 'create-completion', key })
  expect({ statusCode, rows: (await rig.rows(id)).map(({ kind }) => kind) }).toStrictEqual({
    statusCode: 502,
    rows: ['release', 'reserve'],
  })
})
