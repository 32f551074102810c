import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { writeTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'
import { readRig } from '../admin-api/read/read-rig.ts'
import { CHAT, openStream, type RelayRig, startRelayRig, USAGE, word } from '../engines/relay-rig.ts'

const MEBIBYTE = 1024 * 1024
const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }
process.env.CONSOLE_ORIGIN = 'loopback'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-large-'))

/** Hundreds of megabytes, on a machine that may be busy. */
let rig: RelayRig

beforeAll(async () => {
  const file = join(directory, 'cl100k_base.json')
  writeTokenizerRanks(file)
  process.env.TOKENIZER_RANKS_FILE = file
  rig = await startRelayRig({ channels: 2 })
})
afterAll(async () => {
  await rig.close()
  rmSync(directory, { recursive: true })
})

/** Sends a beginning, so many mebibytes, and an end. */
async function sendLarge(response: ServerResponse, [begin, end]: readonly [string, string], mebibytes: number) {
  response.writeHead(200, { 'content-type': 'application/json' }).write(begin)
  const filler = Buffer.alloc(MEBIBYTE, 'a')
  for (let sent = 0; sent < mebibytes && !response.destroyed; sent += 1) {
    if (!response.write(filler)) {
      await new Promise<void>((resolve) => {
        const go = () => {
          response.off('drain', go).off('close', go)
          resolve()
        }
        response.on('drain', go).on('close', go)
      })
    }
  }
  response.end(end)
}

/** The answer around a long text in it. */
function around(members: object): readonly [string, string] {
  const [begin = '', end = ''] = JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'LONG' }, finish_reason: 'stop' }],
    ...members,
  }).split('LONG')
  return [begin, end]
}

const settled = async (id: string) => (await rig.rows(id)).find(({ kind }) => kind === 'settle')

describe('a chat reply of 67 MiB', () => {
  it('reaches its client with the public model and its cost, wherever those stand, and is billed by its usage', async () => {
    const { id, key } = await rig.tenant('1')
    const parts = around({ id: 'chatcmpl-1', usage: USAGE, model: 'upstream-chat' })
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, parts, 67))
    const { statusCode, headers, body, isCut } = await rig.send(BODY, { key })
    expect({ statusCode, isCut }).toStrictEqual({ statusCode: 200, isCut: false })
    const changes = CHAT.length - 'upstream-chat'.length + ',"cost":0.015'.length
    expect(body.length).toBe(parts.join('').length + changes + 67 * MEBIBYTE)
    expect(body.subarray(-100).toString()).toContain('"total_tokens":12,"cost":0.015}')
    expect(headers).not.toHaveProperty('x-reelgate-cost')
    expect(body.subarray(0, 60).toString()).toBe((parts[0] + 'a'.repeat(60)).slice(0, 60))
    expect(body.subarray(-100).toString()).toContain(`"model":"${CHAT}"}`)
    expect(await settled(id)).toMatchObject({ actual: 15_000n })
    expect(await settled(id)).not.toHaveProperty('estimated', true)
  })

  it('without a usage is billed at the estimate', async () => {
    const { id, key } = await rig.tenant('1')
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, around({ model: 'upstream-chat' }), 34))
    expect((await rig.send(BODY, { key })).statusCode).toBe(200)
    const row = await settled(id)
    expect(row?.actual).toBe(row?.amount)
  })

  it('that breaks off is billed for what came, at most the estimate', async () => {
    const { id, key } = await rig.tenant('1')
    rig.upstreams[0]?.answerWith(async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(around({})[0])
      response.write(Buffer.alloc(34 * MEBIBYTE, 'a'), () => response.destroy())
    })
    await rig.send(BODY, { key })
    const row = await settled(id)
    expect(row?.actual).toBe(row?.amount)
    const { body } = await readRig(rig.table)('/requests', { tenant: id, failed: 'true' })
    expect(Object(body).requests).toMatchObject([{ failure: 'upstream_error', cause: 'HTTP 200 broke_off' }])
  })

  it('whose client leaves is read on for its usage', async () => {
    const { id, key } = await rig.tenant('1')
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, around({ usage: USAGE }), 40))
    const { hasLeft } = await rig.send(BODY, { key, client: { leavesAfterBytes: 100 } })
    expect(hasLeft).toBe(true)
    expect(await settled(id)).toMatchObject({ actual: 15_000n })
  })

  it.each([
    ['no JSON', ['<html>', '</html>'] as const],
    ['no list of choices', ['{"text":"', '"}'] as const],
  ])('that is %s costs nothing', async (_, parts) => {
    const { id, key } = await rig.tenant('1')
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, parts, 34))
    await rig.send(BODY, { key })
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })
})

describe('a large reply that cannot be relayed as it arrives', () => {
  it('because a stream was asked for is billed by its usage, and SDKs do not try it again', async () => {
    const { id, key } = await rig.tenant('1')
    const before = rig.upstreams[1]?.calls.length
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, around({ usage: USAGE }), 34))
    const { statusCode, headers } = await rig.send({ ...BODY, stream: true }, { key })
    expect(statusCode).toBe(502)
    expect(headers).toMatchObject({ 'x-should-retry': 'false' })
    expect(await settled(id)).toMatchObject({ actual: 15_000n })
    expect(rig.upstreams[1]?.calls).toHaveLength(before ?? 0)
  })

  it('because its platform responds in one piece likewise', async () => {
    const { id, key } = await rig.tenant('1')
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, around({ usage: USAGE }), 34))
    const { statusCode, headers } = await rig.sendBuffered(BODY, { key })
    expect({ statusCode, headers }).toMatchObject({ statusCode: 502, headers: { 'x-should-retry': 'false' } })
    expect(await settled(id)).toMatchObject({ actual: 15_000n })
  })

  it.each([
    ['before its first byte', []],
    ['after a word', [word('Hi')]],
  ])('because it is one event of a stream is billed at the estimate (%s)', async (_, events) => {
    const { id, key } = await rig.tenant('1')
    const before = rig.upstreams[1]?.calls.length
    rig.upstreams[0]?.answerWith((response) => {
      openStream(response).write([...events, 'data: {"choices":["'].join(''))
      response.end(Buffer.alloc(17 * MEBIBYTE, 'a'))
    })
    const { statusCode, headers, text } = await rig.send({ ...BODY, stream: true }, { key })
    if (events.length === 0) {
      expect(statusCode).toBe(502)
      expect(headers).toMatchObject({ 'x-should-retry': 'false' })
    } else {
      expect(text).toMatch(/"code":"upstream_error"\}\}\n\n$/)
    }
    const row = await settled(id)
    expect(row?.actual).toBe(row?.amount)
    expect(rig.upstreams[1]?.calls).toHaveLength(before ?? 0)
  })
})

describe('a reply of more than 160 MiB', () => {
  it('with images reaches its client, and each image is billed', async () => {
    const { id, key } = await rig.tenant('1')
    const parts = ['{"created":1,"data":[{"b64_json":"', '"},{"b64_json":"AA=="}]}'] as const
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, parts, 161))
    const body = { model: 'image-v2', prompt: 'a city', n: 3 }
    const run = await rig.send(body, { operation: 'create-image', key })
    expect({ statusCode: run.statusCode, length: run.body.length }).toStrictEqual({
      statusCode: 200,
      length: parts.join('').length + 161 * MEBIBYTE,
    })
    expect(await rig.balance(id)).toMatchObject({ held: '0', spent: '0.04' })
  })

  it.each([
    ['reaches its client', 'float', 200],
    ['is cut where it may have to be made base64', 'base64', 502],
  ])('with embeddings %s, and is billed', async (_, encoding_format, status) => {
    const { id, key } = await rig.tenant('1')
    const parts = ['{"data":[{"embedding":[1],"x":"', '"}],"usage":{"prompt_tokens":1,"total_tokens":1}}'] as const
    rig.upstreams[0]?.answerWith((response) => sendLarge(response, parts, 161))
    const body = { model: 'text-embedding-3-small', input: 'hi', encoding_format }
    expect((await rig.send(body, { operation: 'create-embedding', key })).statusCode).toBe(status)
    expect(await settled(id)).toMatchObject({ actual: 1_000n })
  })
})
