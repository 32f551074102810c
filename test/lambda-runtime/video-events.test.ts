import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { parseFraming } from '../engines/stream-handler.ts'
import { type DeployedRelay, startDeployedRelay } from './deployed-relay.ts'

let relay: DeployedRelay
beforeAll(async () => {
  relay = await startDeployedRelay()
}, 120_000)
afterAll(() => relay.close())

describe('a stream of events on Lambda’s runtime client', () => {
  it('whose client has gone ends by itself after a minute and gives its place back: the platform takes the bytes as before, and tells nothing', async () => {
    const tenant = await relay.tenant()
    const held: Promise<number>[] = []
    const read = (bytes: Buffer) => {
      if (bytes.includes('id: queued')) {
        held.push(relay.openStreams(tenant.key))
      }
    }
    const startedAt = performance.now()
    const invoked = await relay.followJob(tenant, { read })
    expect(performance.now() - startedAt).toBeLessThan(75_000)
    expect(invoked).toMatchObject({ isWhole: true, failure: undefined, endsProcess: false })
    const { statusCode, body } = parseFraming(invoked.raw, { isCut: false })
    expect([statusCode, body.toString()]).toEqual([
      200,
      expect.stringMatching(/^retry: 1000\n\nid: queued\n[\s\S]*: keep-alive\n\n$/),
    ])
    expect([await Promise.all(held), await relay.openStreams(tenant.key)]).toEqual([[1], 0])
  }, 100_000)
})
