import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually, startReceiver } from './video-client.ts'

/** What the ledger says of a job in the end. */
type Row = { kind: string; job: string; actual: string | null }

describe('deleting a job in any state, over HTTP', () => {
  let gateway: Gateway
  let receiver: Awaited<ReturnType<typeof startReceiver>>

  beforeAll(async () => {
    receiver = await startReceiver()
    gateway = await startGateway({
      callbackOrigins: [receiver.origin],
      changeConfig: (yaml) => yaml.replace('max_open_jobs: 100', 'max_open_jobs: 4'),
    })
  })

  afterAll(async () => {
    await gateway.stop()
    await receiver.close()
  })

  const create = async (prompt: string, model = 'famB-1.1-t2v') => {
    const { json } = await gateway.api.create({ model, prompt, callback_url: `${receiver.origin}/cb` })
    return String(json.id)
  }

  const resolution = (id: string) =>
    eventually(
      async () => {
        const answer = await gateway.admin('ledger', '--tenant', 'demo', '--limit', '1000')
        const rows: Row[] = Object(answer).entries
        return rows.find(({ job, kind }) => job === id && kind !== 'reserve')
      },
      (row) => row !== undefined,
    )

  const expectGone = async (id: string) => {
    expect((await gateway.api.get(id)).status).toBe(404)
    expect((await gateway.api.delete(id)).status).toBe(404)
    const stored = readdirSync(join(gateway.dataDirectory, 'bucket'), { recursive: true }).map(String)
    expect(stored.filter((file) => file.includes(`${id}.mp4`))).toEqual([])
    expect(receiver.received.filter(({ body }) => body.includes(id))).toEqual([])
  }

  it('cancels a queued task and releases its whole reservation', async () => {
    const id = await create('[queue:30] not begun')
    expect((await gateway.api.delete(id)).status).toBe(200)
    expect(await resolution(id)).toMatchObject({ kind: 'release', actual: null })
    await expectGone(id)
  })

  it('bills a running task that cannot be cancelled, and keeps none of its files', async () => {
    const id = await create('a cat runs on grass')
    await eventually(
      async () => JSON.stringify((await gateway.api.get(id)).json),
      (text) => text.includes('RUNNING'),
    )
    expect((await gateway.api.delete(id)).status).toBe(200)
    expect(await resolution(id)).toMatchObject({ kind: 'settle', actual: '0.7' })
    await expectGone(id)
  })

  it('releases a job that waits for a channel', async () => {
    const busy = await Promise.all(Array.from({ length: 4 }, () => create('a cat runs on grass')))
    const waiting = await create('a cat runs on grass')
    expect((await gateway.api.get(waiting)).json.status).toBe('queued')
    await gateway.api.delete(waiting)
    expect(await resolution(waiting)).toMatchObject({ kind: 'release' })
    await expectGone(waiting)
    await Promise.all(busy.map((id) => gateway.api.until(id, 'succeeded')))
  })

  it('breaks no invariant of the ledger', async () => {
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
    expect(await gateway.admin('tenant', 'show', '--tenant', 'demo')).toMatchObject({ held: '0' })
  })
})
