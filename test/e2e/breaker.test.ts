import { afterEach, describe, expect, it } from '@jest/globals'
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

async function chat({ url }: Gateway, content: string, { stream = false, key = 'e2e-key' } = {}): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'chat-default', stream, max_tokens: 20, messages: [{ role: 'user', content }] }),
  })
  // What breaks off is told by the stream itself.
  await response.text().catch(() => undefined)
  return response.status
}

/** What a suite that tests its client asks for, one after the other. */
async function misbehave(gateway: Gateway): Promise<void> {
  for (const prompt of ['[error:500] a', '[reset] b', '[cut:0] c', '[error:500] d', '[reset] e', '[error:502] f']) {
    await chat(gateway, prompt, { stream: prompt.startsWith('[cut') })
  }
}

/** A second channel for the models of the first. */
const withSpare = (yaml: string) =>
  yaml.replace(/ {2}- id: openai-main\n(?: {4}.*\n)*/, (row) => row + row.replace('openai-main', 'openai-spare'))

const withoutBreaker = (yaml: string) => yaml.replaceAll('breaker: { failures: 5,', 'breaker: { failures: 0,')

describe('consecutive faults of a simulated upstream', () => {
  it('do not affect the next request of the only channel of a model, with the shipped settings', async () => {
    const gateway = await start((yaml) => yaml)
    await misbehave(gateway)
    expect(await chat(gateway, 'hello')).toBe(200)
  })

  it('keep their tenant out of every channel of a model, and no other tenant', async () => {
    const gateway = await start(withSpare)
    const { id } = Object(await gateway.admin('tenant', 'create', '--name', 'Other', '--credits', '10'))
    const { key } = Object(await gateway.admin('key', 'create', '--tenant', id))
    await misbehave(gateway)
    expect(await chat(gateway, 'hello')).toBe(503)
    expect(await chat(gateway, 'hello', { key })).toBe(200)
  })

  it('do not affect the next request with the breakers off, as documented in the testing page', async () => {
    const gateway = await start((yaml) => withoutBreaker(withSpare(yaml)))
    await misbehave(gateway)
    expect(await chat(gateway, 'hello')).toBe(200)
  })
})
