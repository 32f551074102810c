import { describe, expect, it } from '@jest/globals'
import { listen } from '#platform/http-server/http-server.ts'
import { startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { whenTestEnds } from '../runner/when-test-ends.ts'

async function startPooledServer(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const server = await listen((_, response) => response.end('{}'), 0)
  server.keepIdleConnections()
  return { endpoint: `http://127.0.0.1:${server.port}`, close: server.close }
}

/** A server that ends idle connections after a time says so in `Keep-Alive: timeout=5`, and a request may meet that moment. */
describe('an idle connection of a client', () => {
  it.each([
    ['the bucket', startTestBucket],
    ['a front for clients of AWS', startPooledServer],
    ['a simulated video upstream', async () => ({ ...(await startP1Simulator()), endpoint: undefined })],
    ['a simulated chat upstream', async () => ({ ...(await startOpenAiSimulator()), endpoint: undefined })],
  ])('is never ended by %s', async (_, start) => {
    const server = await start()
    whenTestEnds(() => server.close())
    const { headers } = await fetch(server.endpoint ?? ('baseUrl' in server ? server.baseUrl : ''))
    expect([headers.get('connection'), headers.get('keep-alive')]).toStrictEqual(['keep-alive', null])
  })
})
