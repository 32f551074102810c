import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Route } from '#routes/define-route.ts'
import type { Operation } from '#routes/index.ts'
import { MODEL_ROUTES } from '#routes/models.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { CHAT, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { RELAYED, relayedRoute } from '../engines/relayed-samples.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { isAllowed, tableGrants, usesOf } from './role-check.ts'
import { synthesizeStack } from './synthesize-stack.ts'

const grants = tableGrants(synthesizeStack())
const KEY = 'a-key-with-a-rate'

const rig = useOpened(() =>
  startRelayRig({
    watch: (operation, input) => {
      for (const use of usesOf(operation, input)) {
        requests += 1
        if (!isAllowed(grants.get(folder) ?? [], use)) {
          refused.push(`${folder}: ${use.action} ${use.keys.join(' ')}`)
        }
      }
    },
  }),
)
let folder = ''
let requests = 0
const refused: string[] = []
beforeAll(async () => {
  const { id } = await rig.tenant('1')
  await storeApiKey(rig.table, { key: KEY, tenantId: id, models: null, ratePerMinute: 600 }, TESTER)
})

const CHAT_ROUTE = relayedRoute('create-chat-completion')

describe('the roles of the functions of models and relayed requests', () => {
  async function requestsOf(
    { operation, function: name }: Route<Operation>,
    send: () => Promise<{ statusCode: number }>,
  ) {
    folder = `api/${name}`
    requests = 0
    const { statusCode } = await send()
    expect([operation, statusCode, requests > 1, refused]).toEqual([operation, 200, true, []])
  }

  it.each(MODEL_ROUTES)('$operation: allow every request to the table', async (route) => {
    const call = { operation: route.operation, key: KEY, pathParameters: { model: CHAT } }
    await requestsOf(route, () => rig.sendBuffered({}, call))
  })

  it.each(RELAYED)('$operation: allow every request to the table', async (route) => {
    const { operation, body, reply } = route
    rig.upstreams[0]?.answerWith((response) => sendJson(response, reply))
    await requestsOf(route, () => rig.send(body, { operation, key: KEY }))
  })

  it('allow a 402 and a released reservation too', async () => {
    const { key } = await rig.tenant('0')
    folder = 'api/create-chat-completion'
    expect((await rig.send(CHAT_ROUTE.body, { key })).statusCode).toBe(402)
    rig.upstreams[0]?.answerWith((response) => sendJson(response, '{}', 500))
    expect((await rig.send(CHAT_ROUTE.body, { key: KEY })).statusCode).toBe(502)
    expect(refused).toEqual([])
  })
})
