import { afterEach, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from './start-gateway.ts'

const running: Gateway[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((gateway) => gateway.kill()))
})

async function start(changeConfig: (yaml: string) => string): Promise<Gateway> {
  const gateway = await startGateway({ changeConfig })
  running.push(gateway)
  return gateway
}

async function chat({ url }: Gateway, content: string, stream = false): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer e2e-key' },
    body: JSON.stringify({ model: 'chat-default', stream, max_tokens: 20, messages: [{ role: 'user', content }] }),
  })
  // What breaks off is told by the stream itself.
  await response.text().catch(() => undefined)
  return response.status
}

/** What a suite that tests its client asks for, one after the other. */
async function misbehave(gateway: Gateway): Promise<void> {
  for (const prompt of ['[error:500] a', '[reset] b', '[cut:0] c', '[error:500] d', '[reset] e', '[error:502] f']) {
    await chat(gateway, prompt, prompt.startsWith('[cut'))
  }
}

describe('consecutive faults of a simulated upstream', () => {
  it('open the breaker with the shipped settings, and the next request is a 503', async () => {
    const gateway = await start((yaml) => yaml)
    await misbehave(gateway)
    expect(await chat(gateway, 'hello')).toBe(503)
  })

  it('do not affect the next request with the breaker off, as documented in the testing page', async () => {
    const gateway = await start((yaml) => yaml.replace('breaker: { failures: 5,', 'breaker: { failures: 0,'))
    await misbehave(gateway)
    expect(await chat(gateway, 'hello')).toBe(200)
  })
})
