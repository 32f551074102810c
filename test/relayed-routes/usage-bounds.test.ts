import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  type RelayOperation,
  sendJson,
  sendStream,
  startRelayRig,
  word,
} from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const MESSAGES = [{ role: 'user', content: 'hello' }]
const SHORT = { model: CHAT, max_tokens: 5, messages: MESSAGES }
const EMBEDDING = 'text-embedding-3-small'

/** What a prompt of 8,192 tokens at 1,000 per million, and so many answers of 1,000 at 2,000, cost in microcredits. */
const chatBound = (answers: number, prompts = 1) => BigInt(prompts * 8_192_000 + answers * 2_000_000)

const BILLION = { prompt_tokens: 1e9, completion_tokens: 1e9, total_tokens: 2e9 }

const rig = useOpened(startRelayRig)
let telemetry: ReturnType<typeof captureTelemetry>

beforeAll(async () => {
  telemetry = captureTelemetry()
})
beforeEach(() => telemetry.reset())

/** Text in place of an object reaches the gateway as it is written: `1e309` is a number there. */
function answerWith(members: object, usage: string) {
  const text = JSON.stringify(chatAnswer({ ...members, usage: 'USAGE' })).replace('"USAGE"', usage)
  const chunk = chatEvent({ choices: [], usage: 'USAGE' }).replace('"USAGE"', usage)
  rig.upstreams[0]?.answerWith((response, { body }) =>
    body.stream === true ? sendStream(response, word('Hi'), FINISH, chunk, DONE) : sendJson(response, text),
  )
}

/** What one request of a rich tenant is billed. */
async function billOf(body: object, operation: RelayOperation = 'create-chat-completion'): Promise<bigint> {
  const { id, key } = await rig.tenant('1000')
  expect((await rig.send(body, { key, operation })).statusCode).toBe(200)
  const [settled] = await rig.rows(id)
  expect(settled?.kind).toBe('settle')
  return settled?.actual ?? -1n
}

const aboveBound = () => telemetry.counted().filter((fact) => fact === 'usage_above_bound')

describe('a usage above what its model can have used', () => {
  it.each([
    ['whole', SHORT],
    ['streamed', { ...SHORT, stream: true }],
  ])('of a chat, %s, is billed at the bound of the model and counted', async (_, body) => {
    answerWith({}, JSON.stringify(BILLION))
    expect(await billOf(body)).toBe(chatBound(1))
    expect(aboveBound()).toHaveLength(1)
  })

  it.each([
    ['1e30', '3', 8_192_000n + 6_000n],
    ['9', '1e30', 9_000n + 2_000_000n],
    ['8193', '3', 8_192_000n + 6_000n],
    ['9', '1001', 9_000n + 2_000_000n],
  ])('is bounded part by part (%s, %s)', async (prompt, completion, bill) => {
    answerWith({}, `{"prompt_tokens":${prompt},"completion_tokens":${completion}}`)
    expect(await billOf(SHORT)).toBe(bill)
    expect(aboveBound()).toHaveLength(1)
  })

  it('is bounded where a part is left out and only the total is absurd', async () => {
    answerWith({}, '{"prompt_tokens":9,"total_tokens":1000000000}')
    expect(await billOf(SHORT)).toBe(9_000n + 2_000_000n)
  })

  it('grows with the choices that were asked for', async () => {
    answerWith({}, JSON.stringify(BILLION))
    expect(await billOf({ ...SHORT, n: 3 })).toBe(chatBound(3))
  })

  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])('of a legacy completion, %s, is bounded call by call', async (_, members) => {
    answerWith({}, JSON.stringify(BILLION))
    const body = { model: CHAT, prompt: ['a', 'b'], max_tokens: 5, ...members }
    expect(await billOf(body, 'create-completion')).toBe(chatBound(2, 2))
    expect(aboveBound()).toHaveLength(2)
  })

  it('of a legacy completion that breaks off after its usage is bounded too', async () => {
    const usage = chatEvent({ choices: [], usage: BILLION })
    rig.upstreams[0]?.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(word('Hi') + usage, () => setTimeout(() => response.destroy(), 20))
    })
    const body = { model: CHAT, prompt: 'a', max_tokens: 5, stream: true }
    expect(await billOf(body, 'create-completion')).toBe(chatBound(1))
    expect(aboveBound()).toHaveLength(1)
  })

  it('of embeddings is billed at the longest input of the model for each input', async () => {
    const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: [1] }))
    const answer = { object: 'list', data, model: 'm', usage: { prompt_tokens: 1e9, total_tokens: 1e9 } }
    rig.upstreams[0]?.answerWith((response) => sendJson(response, answer))
    expect(await billOf({ model: EMBEDDING, input: [[1], [2]] }, 'create-embedding')).toBe(2n * 8_192_000n)
    expect(aboveBound()).toHaveLength(1)
  })

  it('of images is billed at as many as were asked for', async () => {
    const data = Array.from({ length: 4 }, () => ({ url: 'https://images.example.com/1.png' }))
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { created: 1, data }))
    expect(await billOf({ model: 'image-v2', prompt: 'a cat', n: 2 }, 'create-image')).toBe(40_000n)
    expect(aboveBound()).toHaveLength(1)
  })
})

describe('a usage above its reservation', () => {
  it('is billed in full as far as the model can have used it: reasoning beyond max_tokens', async () => {
    const details = {
      completion_tokens_details: { reasoning_tokens: 1e12 },
      prompt_tokens_details: { cached_tokens: -1 },
    }
    answerWith({}, JSON.stringify({ prompt_tokens: 8192, completion_tokens: 1000, ...details }))
    expect(await billOf(SHORT)).toBe(chatBound(1))
    expect(aboveBound()).toHaveLength(0)
    expect(telemetry.counted()).toContain('overdraft')
  })
})

describe('the bill of a relayed request', () => {
  const number = fc.oneof(
    fc.integer({ min: -10, max: 20_000 }).map(String),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
    fc.constantFrom('null', '1e309', '-1e309', '"12"', '"9e9"', '[]', '{}', 'true', '0', '-0', '1.5'),
  )
  const usage = fc.oneof(
    fc
      .dictionary(fc.constantFrom('prompt_tokens', 'completion_tokens', 'total_tokens', 'images'), number)
      .map((members) => `{${Object.entries(members).map(([name, value]) => `"${name}":${value}`)}}`),
    number,
  )

  it('is never above the bound of its model, nor below nothing, whatever an upstream reports', async () => {
    const calls = fc.constantFrom<readonly [object, RelayOperation, bigint]>(
      [SHORT, 'create-chat-completion', chatBound(1)],
      [{ ...SHORT, n: 2, stream: true }, 'create-chat-completion', chatBound(2)],
      [{ model: CHAT, prompt: ['a', 'b'] }, 'create-completion', chatBound(2, 2)],
      [{ model: CHAT, prompt: 'a', stream: true }, 'create-completion', chatBound(1)],
      [{ model: EMBEDDING, input: [[1, 2]] }, 'create-embedding', 8_192_000n],
      [{ model: 'image-v2', prompt: 'a cat' }, 'create-image', 20_000n],
    )
    const data = [{ object: 'embedding', index: 0, embedding: [1], url: 'https://images.example.com/1.png' }]
    await fc.assert(
      fc.asyncProperty(calls, usage, async ([body, operation, bound], reported) => {
        answerWith({ data }, reported)
        const bill = await billOf(body, operation)
        expect(bill).toBeGreaterThanOrEqual(0n)
        expect(bill).toBeLessThanOrEqual(bound)
      }),
      { numRuns: 100 },
    )
  })
})
