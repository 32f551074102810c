import { randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { createVideoJob } from '#lambdas/api/create-video-job/create-video-job.ts'
import { systemClock } from '#platform/clock.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { type Caller, findCaller } from '#store/callers.ts'
import { type KeySettings, setApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { testCatalogue, unswitched } from '../../engines/test-catalogue.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { BODY, type Client, startVideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)

/** A caller as a request read it before its key was changed. */
async function outdatedCaller(client: Client, settings: KeySettings): Promise<Caller> {
  const caller = await findCaller(routes.table, sha256Hex(client.key), Date.now() / 1000)
  const actor = { name: 'alice', role: 'operator' } as const
  await setApiKey(routes.table, { keyId: client.keyId, settings, actor })
  if (caller === undefined) {
    throw new Error('the key is not valid')
  }
  return caller
}

function create(caller: Caller): Promise<string> {
  const catalogue = testCatalogue({ submit_wait_seconds: 0 })
  const context = {
    ...systemClock,
    table: routes.table,
    openBucket,
    catalogue,
    currentCatalogue: unswitched(catalogue),
    newJobId: () => uuidv7(),
    randomHex: (bytes: number) => randomBytes(bytes).toString('hex'),
  }
  return createVideoJob({ caller, body: BODY, idempotencyKey: undefined }, context)
}

describe('create-video-job with a key that is changed after it was read', () => {
  it('creates the job once, with what the key may do now', async () => {
    const client = await routes.newClient('10')
    const caller = await outdatedCaller(client, { name: 'New' })
    expect(JSON.parse(await create(caller))).toMatchObject({ status: 'queued' })
    expect(await routes.stateOf(client)).toMatchObject({ available: '9.3', held: '0.7', started: 1, wrong: [] })
  })

  it('refuses a model that the key may not use any more, and holds nothing', async () => {
    const client = await routes.newClient('10')
    const caller = await outdatedCaller(client, { models: ['other'] })
    await expect(create(caller)).rejects.toMatchObject({ name: 'InvalidRequestError' })
    expect(await routes.stateOf(client)).toMatchObject({ available: '10', held: '0', started: 0, wrong: [] })
  })

  it('refuses a key that was revoked meanwhile, too', async () => {
    const client = await routes.newClient('10')
    const caller = await outdatedCaller(client, { name: 'New' })
    await revokeApiKey(routes.table, client.keyId, TESTER)
    await expect(create(caller)).rejects.toMatchObject({ name: 'InvalidApiKeyError' })
    expect(await routes.stateOf(client)).toMatchObject({ available: '10', held: '0', started: 0 })
  })
})
