import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import { AGENT_MODELS, startAgentGateway } from './agent-gateway.ts'
import { REPOSITORY } from './child-environment.ts'
import type { RelayGateway } from './relay-gateway.ts'

/** What an agent sent for a task with one call of a tool. Long texts are cut. */
type Recorded = {
  readonly agent: string
  readonly requests: readonly {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Readonly<Record<string, unknown>> | null
  }[]
}

type Event = Readonly<Record<string, unknown>>

let gateway: RelayGateway
beforeAll(async () => {
  gateway = await startAgentGateway()
})
afterAll(async () => {
  await gateway.stop()
})

function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(join(REPOSITORY, 'test/fixtures/agents', `${name}.json`), 'utf8'))
}

/** The events of each request of an agent, and what all of them cost. */
async function replay({ requests }: Recorded, model: string) {
  const tenant = await gateway.tenant('10')
  const replies: Event[][] = []
  const ignored: (string | null)[] = []
  for (const { method, path, headers, body } of requests) {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${tenant.key}` },
      ...(body === null ? {} : { body: JSON.stringify({ ...body, model }) }),
    })
    const text = await response.text()
    if (body !== null) {
      expect({ text, status: response.status }).toMatchObject({ status: 200 })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      replies.push(eventsOf(text))
      ignored.push(response.headers.get('x-reelgate-ignored'))
    }
  }
  const entries = (await gateway.ledger(tenant.id)).filter(({ kind }) => kind === 'settle')
  return { replies, ignored, entries }
}

function eventsOf(text: string): Event[] {
  const data = text.split('\n').filter((line) => line.startsWith('data: {'))
  return data.map((line) => JSON.parse(line.slice('data: '.length)))
}

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type)
const costOf = (usage: unknown) => parseCredits(String(Object(usage).cost))
const billed = (entries: readonly { readonly actual: string | null }[]) =>
  entries.map(({ actual }) => parseCredits(actual ?? '0')).toSorted()

describe.each(AGENT_MODELS)('a recorded task on the model %s', (model) => {
  it('of Claude Code: a call of a tool, then words about its result, each billed once', async () => {
    const { replies, ignored, entries } = await replay(recorded('claude-code'), model)
    const [called = [], said = []] = replies
    for (const events of replies) {
      const types = typesOf(events)
      expect([types[0], types.at(-2), types.at(-1)]).toStrictEqual(['message_start', 'message_delta', 'message_stop'])
    }
    const starts = called.filter(({ type }) => type === 'content_block_start')
    expect(starts).toMatchObject([
      { index: 0, content_block: { type: 'thinking' } },
      { index: 1, content_block: { type: 'tool_use', name: 'Read' } },
    ])
    expect(called.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
    expect(said.map(({ delta }) => Object(delta).text ?? '').join('')).toContain('Invalid pages')
    expect(said.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' } })
    const fields = 'messages.content.cache_control, system.cache_control, thinking, context_management'
    expect(ignored[0]).toBe(model === 'chat-only' ? fields : null)
    expect(entries).toMatchObject([{ operation: 'create-message' }, { operation: 'create-message' }])
    expect(billed(entries)).toStrictEqual(replies.map((events) => costOf(events.at(-2)?.usage)).toSorted())
  })

  it('of Codex: a call of a tool, then words about its result, each billed once', async () => {
    const { replies, ignored, entries } = await replay(recorded('codex'), model)
    const [called = [], said = []] = replies
    for (const events of replies) {
      const types = typesOf(events)
      const ends = [types[0], types[1], types.at(-1)]
      expect(ends).toStrictEqual(['response.created', 'response.in_progress', 'response.completed'])
      expect(events.map(({ sequence_number: number }) => number)).toStrictEqual([...events.keys()])
    }
    const output = [{ type: 'reasoning' }, { type: 'function_call', name: 'exec_command' }]
    expect(called.at(-1)).toMatchObject({ response: { store: false, output } })
    expect(said.at(-1)).toMatchObject({
      response: { output: [{ type: 'reasoning' }, { content: [{ text: expect.stringContaining('Chunk ID') }] }] },
    })
    const fields = model === 'native' ? [] : ['reasoning.summary', 'include', 'client_metadata']
    expect(ignored[0]).toBe([...fields, 'tools.web_search'].join(', '))
    expect(entries).toMatchObject([{ operation: 'create-response' }, { operation: 'create-response' }])
    const usages = replies.map((events) => Object(events.at(-1)?.response).usage)
    expect(billed(entries)).toStrictEqual(usages.map(costOf).toSorted())
  })

  it('of qwen-code: a call of a tool, then words about its result, each billed once', async () => {
    const { replies, entries } = await replay(recorded('qwen-code'), model)
    const [called = [], said = []] = replies
    const deltasOf = (events: readonly Event[]) =>
      events.map(({ choices }) => (Array.isArray(choices) ? Object(choices[0]).delta : undefined) ?? {})
    expect(deltasOf(called).flatMap(({ tool_calls: calls }) => calls ?? [])[0]).toMatchObject({
      function: { name: 'tool_search' },
    })
    const text = deltasOf(said).map(({ content }) => content ?? '')
    expect(text.join('')).toContain('No tools found')
    expect(entries).toMatchObject([{ operation: 'create-chat-completion' }, { operation: 'create-chat-completion' }])
    expect(billed(entries)).toStrictEqual(replies.map((events) => costOf(events.at(-1)?.usage)).toSorted())
  })
})

it('a recorded probe of Claude Code: HEAD / is no error of the gateway', async () => {
  const [probe] = recorded('claude-code').requests
  expect(probe).toMatchObject({ method: 'HEAD', path: '/' })
  expect((await fetch(gateway.url, { method: 'HEAD' })).status).toBe(404)
})
