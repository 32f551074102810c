import { expect, it } from 'vitest'
import { openRelayContext } from '#lambdas/relay/relay-context.ts'
import { startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const rig = useOpened(startRelayRig)

it('relay-context: is one for the process, with breakers that hear of every request', async () => {
  const { breakers } = openRelayContext()
  expect(openRelayContext().breakers).toBe(breakers)
  expect(breakers.shownState({ id: 'channel-0' }, Date.now())).toBeUndefined()
  await rig.send({ model: 'chat-a', messages: [{ role: 'user', content: 'hi' }] })
  expect(breakers.shownState({ id: 'channel-0' }, Date.now())).toBe('closed')
})
