import { describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  openStream,
  type RelayOperation,
  sendJson,
  startRelayRig,
  word,
} from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const MEBIBYTE = 1024 * 1024
const BODIES = {
  'create-chat-completion': { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 500 },
  'create-completion': { model: CHAT, prompt: 'hi', max_tokens: 500 },
} as const
const OPERATIONS = ['create-chat-completion', 'create-completion'] as const

/** Many megabytes, on a machine that may be busy. */
const rig = useOpened(startRelayRig)

async function send(operation: RelayOperation & keyof typeof BODIES, members: object) {
  const { id, key } = await rig.tenant('10')
  const run = await rig.send({ ...BODIES[operation], ...members }, { operation, key })
  const [row] = await rig.rows(id)
  return { ...run, row }
}

describe.each(OPERATIONS)('%s: a reply of status 200 without a message and a usage', (operation) => {
  it.each([
    ['no choice', []],
    ['an empty choice', [{}]],
    ['choices of another kind', [null, 1, 'x']],
  ])('is a 502 that costs nothing, whole and for a stream (%s)', async (_, choices) => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ choices, usage: undefined })))
    for (const stream of [false, true]) {
      const { statusCode, headers, row } = await send(operation, { stream })
      expect({ statusCode, kind: row?.kind }).toStrictEqual({ statusCode: 502, kind: 'release' })
      expect(headers).not.toHaveProperty('x-should-retry')
    }
  })
})

/** Sends some events, and then something that never ends. */
function sendEndless(begin: string): void {
  rig.upstreams[0]?.answerWith((response) => {
    openStream(response).write(begin)
    response.end(Buffer.alloc(17 * MEBIBYTE, 'x'))
  })
}

describe.each(OPERATIONS)('%s: a stream that is cut inside an endless event', (operation) => {
  it.each([
    ['a comment', ':'],
    ['a comment behind a role', `${chatEvent({ choices: [{ index: 0, delta: { role: 'assistant' } }] })}:`],
    ['an event without data', 'event: '],
  ])('is a 502 that costs nothing when nothing was generated (%s)', async (_, begin) => {
    sendEndless(begin)
    const { statusCode, headers, row } = await send(operation, { stream: true })
    expect({ statusCode, kind: row?.kind }).toStrictEqual({ statusCode: 502, kind: 'release' })
    expect(headers).not.toHaveProperty('x-should-retry')
  })

  it('is billed for what was generated when a comment follows it', async () => {
    sendEndless(`${word('Hi')}:`)
    const { text, row } = await send(operation, { stream: true })
    expect(text).toMatch(/"code":"upstream_error"\}\}\n\n$/)
    expect(row?.kind).toBe('settle')
    expect(row?.actual).toBeLessThan(50_000n)
  })

  it.each(['data: ', 'event: x\ndata:{', ': a comment\r\ndata: '])(
    'is billed at the estimate when it is data (%j)',
    async (begin) => {
      sendEndless(begin)
      const { statusCode, row } = await send(operation, { stream: true })
      expect(statusCode).toBe(502)
      expect(row).toMatchObject({ kind: 'settle', actual: row?.amount })
    },
  )
})
