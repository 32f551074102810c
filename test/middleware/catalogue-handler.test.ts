import { describe, expect, it } from '@jest/globals'
import { keyIdOf } from '#core/api-key.ts'
import { catalogueHandler } from '#middleware/catalogue-handler.ts'
import { listModels } from '#routes/models.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { CHAT, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { apiEvent, context } from './api-exchange.ts'

const rig = useOpened(startRelayRig)

let described = 0
const handle = catalogueHandler(listModels, (_, catalogue, allowed) => {
  described += 1
  return { object: 'list' as const, data: [], allowed, hasChat: catalogue.config.models.some(({ id }) => id === CHAT) }
})

async function call(key: string) {
  const event = apiEvent({ httpMethod: 'GET', headers: { authorization: `Bearer ${key}` } })
  const { statusCode, body } = await handle(event, context)
  return { statusCode, body: JSON.parse(body) }
}

describe('catalogueHandler', () => {
  it('describes the catalogue of the deployment with the models that the key may use', async () => {
    const { id, key } = await rig.tenant()
    expect(await call(key)).toEqual({
      statusCode: 200,
      body: { object: 'list', data: [], allowed: null, hasChat: true },
    })
    const limited = generateApiKey()
    await storeApiKey(rig.table, { key: limited, tenantId: id, models: [CHAT] }, TESTER)
    expect((await call(limited)).body.allowed).toEqual([CHAT])
  })

  it('describes nothing to an unknown key', async () => {
    const before = described
    expect(await call(generateApiKey())).toMatchObject({ statusCode: 401 })
    expect(described).toBe(before)
  })

  it('refuses a key from its first request after the revocation on', async () => {
    const { key } = await rig.tenant()
    await call(key)
    await revokeApiKey(rig.table, keyIdOf(key) ?? '', TESTER)
    expect(await call(key)).toMatchObject({ statusCode: 401 })
  })
})
