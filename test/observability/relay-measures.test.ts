import { beforeAll, describe, expect, it } from '@jest/globals'
import { captureMetrics } from '../engines/emitted-metrics.ts'
import { CHAT, chatAnswer, sendJson, startRelayRig, word } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hello' }] }

const rig = useOpened(startRelayRig)
let metrics: ReturnType<typeof captureMetrics>
beforeAll(async () => {
  metrics = captureMetrics()
})

/** What a request emits, and in how many lines. */
async function measured(body: object): Promise<{ values: Record<string, number>; lines: number }> {
  const before = { count: metrics.emitted().length, lines: metrics.lines() }
  await rig.send(body)
  const emitted = metrics.emitted().slice(before.count)
  return {
    values: Object.fromEntries(emitted.map(({ name, value }) => [name, value])),
    lines: metrics.lines() - before.lines,
  }
}

describe('measures of a relayed request', () => {
  it('are one line with the first byte, the tokens and the bill after a success, and one for the call of the upstream', async () => {
    expect(await measured(BODY)).toEqual({
      values: {
        relay_succeeded: 1,
        first_byte_milliseconds: expect.any(Number),
        input_tokens: 9,
        output_tokens: 3,
        billed_credits: 0.015,
        upstream_milliseconds: expect.any(Number),
      },
      lines: 2,
    })
  })

  it('have no first byte and no bill after an upstream failure, and count it as an upstream error', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, {}, 500))
    expect(await measured(BODY)).toEqual({
      values: { upstream_error: 7, upstream_milliseconds: expect.any(Number), relay_failed: 1 },
      lines: 2,
    })
  })

  it('do not count a refusal by an upstream as a failure', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { error: { message: 'bad' } }, 400))
    expect(await measured(BODY)).toMatchObject({ values: { upstream_error: 6, relay_rejected: 1 } })
  })

  it('count an incomplete stream as a failure', async () => {
    rig.upstreams[0]?.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(word('Hi'), () => response.destroy())
    })
    expect(await measured({ ...BODY, stream: true })).toMatchObject({
      values: { upstream_error: 3, relay_failed: 1, first_byte_milliseconds: expect.any(Number) },
    })
  })

  it('count a reply that is not a chat completion as an odd body, once', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, '[]'))
    expect(await measured(BODY)).toMatchObject({ values: { upstream_error: 4, relay_failed: 1 } })
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
  })

  it('are empty for an unknown model', async () => {
    expect(await measured({ ...BODY, model: 'unknown' })).toEqual({ values: {}, lines: 0 })
  })
})
