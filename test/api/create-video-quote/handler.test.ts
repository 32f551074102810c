import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { readPartition } from '../../engines/audit.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { BODY, type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let quote: Awaited<ReturnType<VideoRoutes['open']>>
let create: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  quote = await routes.open('create-video-quote')
  create = await routes.open('create-video-job')
})
beforeEach(async () => {
  client = await routes.newClient('10')
})

describe('create-video-quote', () => {
  it('create-video-quote 200: shows what a create reserves, and writes nothing', async () => {
    const { status, json } = await quote(client, { body: BODY })
    expect([status, json]).toEqual([
      200,
      {
        object: 'video.quote',
        model: BODY.model,
        estimate: '0.7',
        lines: [expect.objectContaining({ quantity: '5', unit: 'second', unit_price: '0.14', amount: '0.7' })],
        available: '10',
        affordable: true,
      },
    ])
    expect(await routes.stateOf(client)).toMatchObject({
      available: '10',
      held: '0',
      started: 0,
      objects: [],
      wrong: [],
    })
    expect(await readPartition(routes.table, `T#${client.tenant.tenantId}`)).toEqual([])
  })

  it('create-video-quote 200: needs no funds', async () => {
    client = await routes.newClient('0.5')
    const { status, json } = await quote(client, { body: BODY })
    expect([status, json.available, json.affordable]).toEqual([200, '0.5', false])
  })

  it.each([{ ...BODY, duration: 500 }, { ...BODY, model: 'nothing' }, { ...BODY, prompt: '' }, {}])(
    'create-video-quote 400: refuses %j like a create',
    async (body) => {
      const refused = await quote(client, { body })
      expect(refused.status).toBe(400)
      expect(refused.json).toEqual((await create(client, { body })).json)
    },
  )

  it('create-video-quote 401: refuses an unknown key', async () => {
    expect((await quote(client, { body: BODY, key: 'unknown' })).status).toBe(401)
  })

  it('create-video-quote 413: refuses a body above five megabytes', async () => {
    const body = { ...BODY, image_urls: [`data:image/png;base64,${'A'.repeat(5 * 1024 * 1024)}`] }
    expect((await quote(client, { body })).status).toBe(413)
  })

  it('create-video-quote 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await quote(client, { body: BODY })).status).toBe(200)
    expect((await quote(client, { body: BODY })).status).toBe(429)
  })
})
