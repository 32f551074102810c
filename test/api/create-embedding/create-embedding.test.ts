import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { writeTokenizerRanks } from '../../../lib/config/tokenizer-ranks.ts'
import { type RelayRig, sendJson, startRelayRig, withoutCost } from '../../engines/relay-rig.ts'
import { answerText, readFixture } from '../../upstream/providers/upstream-fixture.ts'

const operation = 'create-embedding'
const MODEL = 'text-embedding-3-small'
const directory = mkdtempSync(join(tmpdir(), 'reelgate-ranks-'))

let rig: RelayRig

beforeAll(async () => {
  const file = join(directory, 'cl100k_base.json')
  writeTokenizerRanks(file)
  process.env.TOKENIZER_RANKS_FILE = file
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
  rmSync(directory, { recursive: true })
})

function answerWith(body: unknown) {
  rig.upstreams[0]?.answerWith((response) => sendJson(response, body))
}

function vectors(...embeddings: unknown[]) {
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  return { object: 'list', data, model: 'upstream-embedding', usage: { prompt_tokens: 5, total_tokens: 5 } }
}

describe('create-embedding 200', () => {
  it.each(['oai_embeddings_float', 'oai_embeddings_base64'])(
    '%s: reaches the client byte for byte but for the cost',
    async (name) => {
      const fixture = readFixture(name)
      answerWith(answerText(fixture))
      const { statusCode, text } = await rig.send(fixture.request.body, { operation })
      expect({ statusCode, text: withoutCost(text) }).toStrictEqual({ statusCode: 200, text: answerText(fixture) })
    },
  )

  it('puts the upstream’s model in, the public one and the cost out, and changes nothing else', async () => {
    answerWith(vectors([0.1, 0.2]))
    const body = `{"input":["héllo"], "model":"${MODEL}", "dimensions":1.0e1}`
    const { text } = await rig.send(body, { operation })
    expect(rig.upstreams[0]?.calls.at(-1)?.text).toBe(body.replace(MODEL, 'upstream-embedding'))
    const changed = JSON.stringify(vectors([0.1, 0.2])).replace('upstream-embedding', MODEL)
    expect(text).toBe(changed.replace('"total_tokens":5', '"total_tokens":5,"cost":0.005'))
  })

  it('makes base64 of floats where the upstream did not', async () => {
    answerWith(vectors([0.5, -0.25, 0.125, 1.0]))
    const { text } = await rig.send({ model: MODEL, input: 'a', encoding_format: 'base64' }, { operation })
    expect(JSON.parse(text).data[0].embedding).toBe('AAAAPwAAgL4AAAA+AACAPw==')
  })

  it('relays token arrays as they are, and locks exactly what they cost', async () => {
    const { id, key } = await rig.tenant('1')
    answerWith(vectors([1], [2]))
    const input = [
      [1, 2, 3],
      [4, 5],
    ]
    expect((await rig.send({ model: MODEL, input }, { operation, key })).statusCode).toBe(200)
    expect(rig.upstreams[0]?.calls.at(-1)?.body.input).toStrictEqual(input)
    expect((await rig.rows(id))[0]).toMatchObject({ kind: 'settle', amount: 5_000n, actual: 5_000n })
  })

  it('sorts entries into the order of the inputs', async () => {
    const { data, ...rest } = vectors([1], [2])
    answerWith({ ...rest, data: data.toReversed() })
    const { text } = await rig.send({ model: MODEL, input: ['a', 'b'] }, { operation })
    expect(JSON.parse(text).data).toStrictEqual(data)
  })
})

describe('create-embedding: what is no embedding', () => {
  it('create-embedding 400: a text of more tokens than the model takes, counted exactly', async () => {
    answerWith(vectors([1]))
    const input = (words: number) => 'hello '.repeat(words).trim()
    expect((await rig.send({ model: MODEL, input: input(8192) }, { operation })).statusCode).toBe(200)
    const { statusCode, text } = await rig.send({ model: MODEL, input: ['short', input(8193)] }, { operation })
    expect(statusCode).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({
      message: '`input[1]` must be at most 8192 tokens',
      param: 'input',
    })
  })

  it.each([
    ['[1,,2--3]', 'float'],
    ['[1,,2--3]', 'base64'],
    ['"!!!"', 'base64'],
    ['[1e39]', 'base64'],
  ])('create-embedding 502: %s for a vector is a failure, and not billed (%s)', async (vector, encoding_format) => {
    const { id, key } = await rig.tenant('1')
    answerWith(JSON.stringify(vectors(null)).replace('null', vector))
    const body = { model: MODEL, input: 'a', encoding_format }
    expect((await rig.send(body, { operation, key })).statusCode).toBe(502)
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })

  it('create-embedding 502: a reply that leaves an input out is a failure, and not billed', async () => {
    const { id, key } = await rig.tenant('1')
    answerWith(vectors([1]))
    expect((await rig.send({ model: MODEL, input: ['a', 'b'] }, { operation, key })).statusCode).toBe(502)
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })
})
