import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { chatAnswer, sendJson } from '../engines/relay-upstream.ts'

const operation = 'create-completion'

let rig: RelayRig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
})

/** Refuses the prompt `bad` once the good ones were answered. */
function refuseLast(goodPrompts: number) {
  const answered = Promise.withResolvers<void>()
  let count = 0
  rig.upstreams[0]?.answerWith(async (response, { text }) => {
    if (text.includes('bad')) {
      await answered.promise
      return sendJson(response, '{"error":{"message":"no"}}', 400)
    }
    sendJson(response, chatAnswer())
    count += 1
    if (count === goodPrompts) {
      // Time for the gateway to read what was sent; nothing tells from outside when it has.
      setTimeout(() => answered.resolve(), 50)
    }
  })
}

describe('a prompt that the upstream refuses among others', () => {
  it('fails the request, and bills the prompts that were answered before it, so that no work is had for nothing', async () => {
    const { id, key } = await rig.tenant('10')
    refuseLast(3)
    const body = { model: CHAT, prompt: ['one', 'two', 'three', 'bad'] }
    expect((await rig.send(body, { operation, key })).statusCode).toBe(400)
    // Three times 9 tokens at 1,000 and 3 at 2,000 per million.
    expect(await rig.balance(id)).toMatchObject({ held: '0', spent: '0.045' })
  })

  it('alone costs nothing', async () => {
    const { id, key } = await rig.tenant('10')
    rig.upstreams[0]?.answerWith((response) => sendJson(response, '{"error":{"message":"no"}}', 400))
    expect((await rig.send({ model: CHAT, prompt: 'bad' }, { operation, key })).statusCode).toBe(400)
    expect(await rig.balance(id)).toStrictEqual({ available: '10', held: '0', spent: '0' })
  })
})
