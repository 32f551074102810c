import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-client.ts'

/** What an operator is promised, and the time of a create and of its submit. */
const SEEN_MILLISECONDS_MAX = 15_000 + 60_000

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  await gateway.stop()
})

const channels = async (): Promise<{ id: string; [field: string]: unknown }[]> =>
  Object(await gateway.admin('channel', 'list')).channels
const channel = async (id: string) => (await channels()).find((row) => row.id === id)

/** Creates a job of a model that three channels serve, and returns it with the channel that took it. */
async function createJob(): Promise<{ id: string; channel: string }> {
  const { json } = await gateway.api.create({ model: 'famA-2', prompt: 'a paper city', duration: 4 })
  const id = String(json.id)
  await gateway.api.until(id, 'processing', 'succeeded')
  const shown = Object(await gateway.admin('job', 'show', '--job', id))
  return { id, channel: String(shown.channel) }
}

describe('switches, against a running local host', () => {
  it('drain a channel: its open job ends, new jobs go elsewhere within 15 seconds, and the list shows both', async () => {
    const open = await createJob()
    expect(open.channel).toBe('p2-direct')
    const disabledAt = Date.now()
    await gateway.admin('channel', 'disable', 'p2-direct')
    expect(await channel('p2-direct')).toMatchObject({ state: 'disabled', open_jobs: expect.any(Number) })
    const elsewhere = await eventually(createJob, ({ channel }) => channel !== 'p2-direct')
    expect(elsewhere.channel).toBe('p2-international')
    expect(Date.now() - disabledAt).toBeLessThan(SEEN_MILLISECONDS_MAX)
    expect(await gateway.api.until(open.id, 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' })
    const drained = await eventually(
      () => channel('p2-direct'),
      (row) => row?.open_jobs === 0,
    )
    expect(drained).toMatchObject({
      settings: [{ setting: 'state', value: 'disabled', by: expect.stringContaining('@') }],
    })
    expect(await channel('p2-international')).toMatchObject({ state: 'enabled', calls: expect.any(Number) })
    expect(Number((await channel('p2-international'))?.calls)).toBeGreaterThan(0)
  })

  it('make a model unknown to clients, and let a repeated create find its job', async () => {
    const body = { model: 'famB-1.1-t2v', prompt: 'a paper boat', duration: 3 }
    const headers = { 'idempotency-key': 'switched' }
    const first = await gateway.api.create(body, headers)
    expect(first.status).toBe(201)
    await gateway.admin('model', 'disable', 'famB-1.1-t2v')
    const listed = async () => {
      const { json } = await gateway.api.send('GET', '/v1/models')
      return Object(json).data.map(({ id }: { id: string }) => id)
    }
    await eventually(listed, (ids) => !ids.includes('famB-1.1-t2v'))
    await eventually(
      () => gateway.api.create(body),
      ({ status }) => status === 400,
    )
    const again = await gateway.api.create(body, headers)
    expect([again.status, again.json.id]).toEqual([201, first.json.id])
    expect(await gateway.api.until(String(first.json.id), 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' })
  })

  it('are in the audit log, with who made them', async () => {
    const { entries } = Object(await gateway.admin('audit', '--target', 'p2-direct'))
    expect(entries).toMatchObject([
      { action: 'channel disable', kind: 'channel', target: 'p2-direct', after: { state: 'disabled' } },
    ])
  })
})
