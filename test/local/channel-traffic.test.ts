import { expect, it } from 'vitest'
import { channelTrafficSchema, watchChannels } from '#local/channel-traffic.ts'
import { CHAT, startRelayRig } from '../engines/relay-rig.ts'
import { sendJson } from '../engines/relay-upstream.ts'
import { useOpened } from '../engines/use-opened.ts'

const rig = useOpened(() => startRelayRig({ channel: { breaker: { failures: 1, pause_seconds: 60 } } }))

it('channel-traffic: tells calls, errors, times and breaker of each called channel', async () => {
  const describeChannels = await watchChannels()
  expect(describeChannels()).toEqual({ channels: {} })
  const body = { model: CHAT, messages: [{ role: 'user', content: 'hi' }] }
  await rig.send(body)
  expect(describeChannels().channels['channel-0']).toMatchObject({ calls: 1, errors: {}, breaker: 'closed' })
  rig.upstreams[0]?.answerWith((response) => sendJson(response, {}, 500))
  await rig.send(body)
  const traffic = describeChannels()
  expect(traffic.channels['channel-0']).toEqual({
    calls: 2,
    errors: { server_error: 1 },
    p50Milliseconds: expect.any(Number),
    p95Milliseconds: expect.any(Number),
    breaker: 'open',
  })
  expect(channelTrafficSchema.parse(JSON.parse(JSON.stringify(traffic)))).toEqual(traffic)
})
