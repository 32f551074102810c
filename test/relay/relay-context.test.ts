import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { openRelayContext } from '#lambdas/relay/relay-context.ts'
import { type RelayRig, startRelayRig } from '../engines/relay-rig.ts'

let rig: RelayRig
beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig.close())

it('openRelayContext returns one context for the process, with breakers that hear of every request', async () => {
  const { breakers } = openRelayContext()
  expect(openRelayContext().breakers).toBe(breakers)
  expect(breakers.shownState({ id: 'channel-0' }, Date.now())).toBeUndefined()
  await rig.send({ model: 'chat-a', messages: [{ role: 'user', content: 'hi' }] })
  expect(breakers.shownState({ id: 'channel-0' }, Date.now())).toBe('closed')
})
