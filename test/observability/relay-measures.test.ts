import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { captureMetrics, type EmittedMetric } from '../engines/emitted-metrics.ts'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { chatAnswer, sendJson, word } from '../engines/relay-upstream.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hello' }] }

let rig: RelayRig
let metrics: ReturnType<typeof captureMetrics>
beforeAll(async () => {
  rig = await startRelayRig()
  metrics = captureMetrics()
})
afterAll(() => rig.close())

/** What a request emits about its model and channel, and in how many lines. */
async function measured(body: object): Promise<{ values: Record<string, number>; lines: number }> {
  const before = { count: metrics.emitted().length, lines: metrics.lines() }
  await rig.send(body)
  const emitted = metrics.emitted().slice(before.count).filter(isDetailed)
  return {
    values: Object.fromEntries(emitted.map(({ name, value }) => [name, value])),
    lines: metrics.lines() - before.lines,
  }
}

function isDetailed({ dimensions }: EmittedMetric): boolean {
  return Object.keys(dimensions).length > 1
}

describe('a relayed request', () => {
  it('that succeeds is one line: its first byte, its tokens and its bill', async () => {
    expect(await measured(BODY)).toEqual({
      values: {
        relay_succeeded: 1,
        first_byte_milliseconds: expect.any(Number),
        input_tokens: 9,
        output_tokens: 3,
        billed_credits: 0.015,
      },
      lines: 1,
    })
  })

  it('that an upstream fails has no first byte and no bill, and says whose failure it was', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, {}, 500))
    expect(await measured(BODY)).toEqual({ values: { upstream_server_error: 1, relay_failed: 1 }, lines: 2 })
  })

  it('that an upstream refuses is no failure', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { error: { message: 'bad' } }, 400))
    expect(await measured(BODY)).toMatchObject({ values: { upstream_client_error: 1, relay_rejected: 1 } })
  })

  it('whose stream breaks off has failed although it began', async () => {
    rig.upstreams[0]?.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(word('Hi'), () => response.destroy())
    })
    expect(await measured({ ...BODY, stream: true })).toMatchObject({
      values: { upstream_broken_answer: 1, relay_failed: 1, first_byte_milliseconds: expect.any(Number) },
    })
  })

  it('that is answered with what is no chat counts as an odd body, once', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, '[]'))
    expect(await measured(BODY)).toMatchObject({ values: { upstream_odd_body: 1, relay_failed: 1 } })
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
  })

  it('that names no model we know is measured by nothing', async () => {
    expect(await measured({ ...BODY, model: 'unknown' })).toEqual({ values: {}, lines: 0 })
  })
})
