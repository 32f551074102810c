import { beforeAll, describe, expect, it } from '@jest/globals'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { routeOf } from '../engines/load-route.ts'
import { CHAT, type RelayOperation, sendJson, startRelayRig } from '../engines/relay-rig.ts'
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

const chat = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
const embedding = { model: 'text-embedding-3-small', input: 'hi' }
const image = { model: 'image-v2', prompt: 'hi' }

const CASES: readonly (readonly [RelayOperation, unknown, number])[] = [
  ['list-models', {}, 200],
  ['get-model', {}, 200],
  ['create-chat-completion', chat, 200],
  ['create-response', { model: CHAT, input: 'hi', max_output_tokens: 5 }, 200],
  ['create-message', chat, 200],
  ['count-message-tokens', chat, 200],
  ['create-completion', { model: CHAT, prompt: 'hi' }, 200],
  ['create-embedding', embedding, 502],
  ['create-image', image, 502],
]

describe('the roles of the functions of models and relayed requests', () => {
  it.each(CASES)('%s: allow every request to the table', async (operation, body, status) => {
    folder = `api/${routeOf(operation).function}`
    requests = 0
    const call = { operation, key: KEY, pathParameters: { model: CHAT } }
    const isBuffered = operation === 'list-models' || operation === 'get-model'
    const { statusCode } = await (isBuffered ? rig.sendBuffered(body, call) : rig.send(body, call))
    expect([statusCode, requests > 1, refused]).toEqual([status, true, []])
  })

  it('allow a 402 and a released reservation too', async () => {
    const { key } = await rig.tenant('0')
    folder = 'api/create-chat-completion'
    expect((await rig.send(chat, { key })).statusCode).toBe(402)
    rig.upstreams[0]?.answerWith((response) => sendJson(response, '{}', 500))
    expect((await rig.send(chat, { key: KEY })).statusCode).toBe(502)
    expect(refused).toEqual([])
  })
})
