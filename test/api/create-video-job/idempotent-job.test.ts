import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { ModelChange } from '#core/catalogue/switches.ts'
import { systemClock } from '#platform/clock.ts'
import { SWITCHES_MILLISECONDS_MAX } from '#store/current-catalogue.ts'
import { changeSwitchesTogether } from '#store/switches.ts'
import { BODY, type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

let skewMilliseconds = 0
let routes: VideoRoutes
let create: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  jest.spyOn(systemClock, 'nowMilliseconds').mockImplementation(() => Date.now() + skewMilliseconds)
  routes = await startVideoRoutes()
  create = await routes.open('create-video-job')
})
beforeEach(async () => {
  await change('clear')
  client = await routes.newClient('10')
})
afterAll(() => routes.close())

/** Changes the switch of the model, and makes what the function knows of the switches too old. */
async function change(action: Exclude<ModelChange['action'], 'enable'>): Promise<void> {
  await changeSwitchesTogether(routes.table, [{ kind: 'model', id: BODY.model, action }], {
    actor: { name: 'operator', role: 'operator' },
    at: 1,
  })
  skewMilliseconds += SWITCHES_MILLISECONDS_MAX
}

const headers = { 'idempotency-key': 'once' }

const HOUR = 60 * 60 * 1_000
const MINUTE = 60 * 1_000

describe('idempotent-job: an idempotency key', () => {
  it('finds its job for 24 hours, and then makes another', async () => {
    const first = await create(client, { body: BODY, headers })
    skewMilliseconds += 24 * HOUR - MINUTE
    const repeated = await create(client, { body: BODY, headers })
    expect([repeated.status, repeated.json.id]).toEqual([201, first.json.id])
    skewMilliseconds += MINUTE
    const other = await create(client, { body: BODY, headers })
    expect(other.status).toBe(201)
    expect(other.json.id).not.toBe(first.json.id)
    expect(await routes.stateOf(client)).toMatchObject({ held: '1.4', started: 2, wrong: [] })
  })
})

describe('idempotent-job: a model that was disabled since', () => {
  it('does not hide the job from a repeat, in another spelling too', async () => {
    const first = await create(client, { body: BODY, headers })
    await change('disable')
    const spelled = { ...BODY, resolution: '720p', image_urls: [] }
    for (const body of [BODY, spelled]) {
      const again = await create(client, { body, headers })
      expect([again.status, again.json]).toEqual([201, first.json])
    }
    expect(await routes.stateOf(client)).toMatchObject({ held: '0.7', started: 1, wrong: [] })
  })

  it('is unknown to a request with a new key or without one, which holds nothing', async () => {
    const unknown = await create(client, { body: { ...BODY, model: 'nothing' } })
    await change('disable')
    for (const each of [{}, { 'idempotency-key': 'new' }]) {
      const { status, json } = await create(client, { body: BODY, headers: each })
      expect([status, json]).toEqual([400, unknown.json])
    }
    expect(await routes.stateOf(client)).toMatchObject({ held: '0', started: 0 })
  })

  it('does not tell its limits to a request that is invalid in another way too', async () => {
    await change('disable')
    const { status, json } = await create(client, {
      body: { ...BODY, duration: 5, video_urls: ['https://a.example/v'] },
    })
    expect([status, json.details.map(({ path }: { path: string }) => path)]).toEqual([400, ['model']])
  })

  it('does not change the refusal of a key that was used for another body', async () => {
    await create(client, { body: BODY, headers })
    await change('disable')
    const { status } = await create(client, { body: { ...BODY, prompt: 'a ship' }, headers })
    expect(status).toBe(409)
  })

  it('keeps the job of another tenant unknown', async () => {
    await create(client, { body: BODY, headers })
    await change('disable')
    expect((await create(await routes.newClient('10'), { body: BODY, headers })).status).toBe(400)
  })
})
