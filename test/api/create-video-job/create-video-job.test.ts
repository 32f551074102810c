import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { requireReservation, TESTER } from '../../engines/video-jobs.ts'
import { BODY, type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let create: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  create = await routes.open('create-video-job')
})
beforeEach(async () => {
  routes.onStart = async () => {}
  client = await routes.newClient('10')
})

const NOTHING_HELD = { available: '10', held: '0', started: 0, objects: [], wrong: [] }
const ONE_HELD = { ...NOTHING_HELD, available: '9.3', held: '0.7', started: 1 }

/** A request too large for its reservation. */
const LARGE = { ...BODY, image_urls: [`data:image/png;base64,${Buffer.alloc(30_000, 7).toString('base64')}`] }

describe('create-video-job', () => {
  it('create-video-job 201: returns the reply to the submit with the injected fields, and holds the estimate', async () => {
    routes.onStart = async (job) => {
      const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const
      await claimSubmit(routes.table, { job, channel, nowSeconds: 1 })
      await recordAccepted(routes.table, job, {
        taskId: 'task',
        submitText: { inline: '{"task_id":"task","n":5.0}' },
        acceptedAt: Math.trunc(Date.now() / 1000),
      })
    }
    const { status, json } = await create(client, { body: BODY })
    const { id, created_at, ...rest } = json
    expect({ status, rest }).toEqual({
      status: 201,
      rest: {
        object: 'video.generation',
        status: 'queued',
        model: BODY.model,
        expires_at: created_at + 604_800,
        task_id: 'task',
        n: 5,
      },
    })
    expect(await routes.stateOf(client)).toEqual(ONE_HELD)
    const job = { tenantId: client.tenant.tenantId, jobId: id }
    expect((await requireReservation(routes.table, job)).state).toBe('held')
  })

  it('create-video-job 201: returns the injected fields alone while the submit takes longer than submit_wait_seconds', async () => {
    const { status, json } = await create(client, { body: BODY })
    expect({ status, fields: Object.keys(json).sort() }).toEqual({
      status: 201,
      fields: ['created_at', 'expires_at', 'id', 'model', 'object', 'status'],
    })
    const job = await getVideoJob(routes.table, client.tenant.tenantId, json.id)
    expect(job).toMatchObject({ status: 'queued', model: BODY.model, requestId: expect.any(String) })
  })

  it('create-video-job 201: a repeat with the same idempotency key returns the same job and holds nothing more', async () => {
    const headers = { 'idempotency-key': 'once' }
    const [first, second] = [
      await create(client, { body: BODY, headers }),
      await create(client, { body: BODY, headers }),
    ]
    expect([second.status, second.json]).toEqual([201, first.json])
    expect(await routes.stateOf(client)).toEqual(ONE_HELD)
  })

  it('create-video-job 201: a large request is kept in the bucket', async () => {
    const { status, json } = await create(client, { body: LARGE })
    expect(status).toBe(201)
    expect((await routes.stateOf(client)).objects).toEqual([expect.stringContaining(json.id)])
  })

  it.each([
    ['a field that is out of range', { ...BODY, duration: 60 }, 'duration'],
    ['a missing prompt', { model: BODY.model }, 'prompt'],
    ['an unknown model', { ...BODY, model: 'unknown' }, 'model'],
    ['a callback host that is not allowed', { ...BODY, callback_url: 'https://elsewhere.example/' }, 'callback_url'],
  ])('create-video-job 400: %s is named in details and holds nothing', async (_, body, path) => {
    const { status, json } = await create(client, { body })
    expect({ status, error: json.error, path: json.details[0].path }).toEqual({
      status: 400,
      error: 'invalid request body',
      path,
    })
    expect(await routes.stateOf(client)).toEqual(NOTHING_HELD)
  })

  it('create-video-job 400: a body that is not JSON holds nothing', async () => {
    const { status, json } = await create(client, { body: '{"model":' })
    expect([status, json.error]).toEqual([400, 'invalid request body'])
    expect(await routes.stateOf(client)).toEqual(NOTHING_HELD)
  })

  it('create-video-job 401: an unknown key holds nothing', async () => {
    const { status, json } = await create(client, { body: BODY, key: 'unknown' })
    expect([status, Object.keys(json)]).toEqual([401, ['error']])
    expect(await routes.stateOf(client)).toEqual(NOTHING_HELD)
  })

  it.each([
    ['', BODY],
    [' and keeps no object', LARGE],
  ])('create-video-job 402: leaves nothing held%s', async (_, body) => {
    const poor = await routes.newClient('0.699999')
    const { status, json } = await create(poor, { body, headers: { 'idempotency-key': 'poor' } })
    expect([status, json.error]).toEqual([402, 'insufficient quota for this video generation'])
    expect(await routes.stateOf(poor)).toEqual({ ...NOTHING_HELD, available: '0.699999' })
  })

  it('create-video-job 409: an idempotency key with another body holds nothing more', async () => {
    const headers = { 'idempotency-key': 'reused' }
    await create(client, { body: BODY, headers })
    const { status, json } = await create(client, { body: { ...BODY, prompt: 'a ship' }, headers })
    expect([status, json]).toEqual([409, { error: 'idempotency key reused with a different body' }])
    expect(await routes.stateOf(client)).toEqual(ONE_HELD)
  })

  it('create-video-job 413: a body above 5 MiB holds nothing', async () => {
    const { status, json } = await create(client, { body: { ...BODY, padding: 'x'.repeat(5 * 1024 * 1024) } })
    expect([status, json]).toEqual([413, { error: 'request body too large' }])
    expect(await routes.stateOf(client)).toEqual(NOTHING_HELD)
  })

  it('create-video-job 429: a tenant at its limit of open jobs holds nothing more', async () => {
    await changeTenant(routes.table, { tenantId: client.tenant.tenantId, settings: { openJobsMax: 1 }, actor: TESTER })
    await create(client, { body: BODY })
    const { status, json, headers } = await create(client, { body: LARGE })
    expect([status, json, headers['retry-after']]).toEqual([429, { error: 'too many open video jobs' }, '10'])
    expect(await routes.stateOf(client)).toEqual(ONE_HELD)
  })

  it('create-video-job 429: a key above its rate holds nothing more', async () => {
    const slow = await routes.newClient('10', 1)
    await create(slow, { body: BODY })
    const { status, json } = await create(slow, { body: BODY })
    expect([status, json]).toMatchObject([429, { error: 'rate limit exceeded' }])
    expect(await routes.stateOf(slow)).toEqual(ONE_HELD)
  })
})
