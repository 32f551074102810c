import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import {
  CHAT,
  chatAnswer,
  DONE,
  FINISH,
  openStream,
  type RelayOperation,
  sendJson,
  sendStream,
  startRelayRig,
  word,
} from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const MEBIBYTE = 1024 * 1024
const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hello' }] }
const COMPLETION = { model: CHAT, prompt: 'hello' }

const rig = useOpened(startRelayRig)
let telemetry: ReturnType<typeof captureTelemetry>

beforeAll(async () => {
  telemetry = captureTelemetry()
})
beforeEach(() => telemetry.reset())

const cuts = () => telemetry.counted().filter((fact) => fact === 'reply_cut_short')

describe('a response that a bound of the gateway cuts short', () => {
  it.each<readonly [RelayOperation, object, number]>([
    ['create-chat-completion', { ...BODY, stream: true }, 33],
    ['create-completion', COMPLETION, 17],
    ['create-completion', { ...COMPLETION, stream: true }, 17],
  ])('is counted once (%s %j)', async (operation, body, mebibytes) => {
    const filler = 'a'.repeat(mebibytes * MEBIBYTE)
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer({ filler })))
    await rig.send(body, { operation })
    expect(cuts()).toHaveLength(1)
  })

  it.each<readonly [RelayOperation, object]>([
    ['create-chat-completion', { ...BODY, stream: true }],
    ['create-completion', { ...COMPLETION, stream: true }],
  ])('is counted where one event of a stream does not end (%s)', async (operation, body) => {
    const endless = `data: ${'a'.repeat(17 * MEBIBYTE)}`
    rig.upstreams[0]?.answerWith((response) => void openStream(response).end(word('Hi') + endless))
    await rig.send(body, { operation })
    expect(cuts()).toHaveLength(1)
  })
})

describe('a response that is not counted as cut short', () => {
  it('is one that ends well', async () => {
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), FINISH, DONE))
    await rig.send({ ...BODY, stream: true })
    expect(cuts()).toHaveLength(0)
  })

  it('is one whose upstream breaks its reply off', async () => {
    rig.upstreams[0]?.answerWith((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"choices":', () => response.destroy())
    })
    await rig.send(BODY)
    expect(cuts()).toHaveLength(0)
  })
})
