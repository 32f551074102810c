import { once } from 'node:events'
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { errorShapeOf } from '#core/api/paths.ts'
import { ROUTES } from '#routes/index.ts'
import { exampleOf } from '../engines/relayed-samples.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

const GOOD = { model: 'famB-1.1-t2v', prompt: 'a cat runs on grass' }
const NOT_FOUND = '{"error":"video job not found"}'
const UNKNOWN_ID = '01a1fc29-ad7d-744a-be2b-91335e7ede96'

describe('every status of every video route, over HTTP', () => {
  let gateway: Gateway
  let poor: { key: string; tenant: string }
  let jobId: string

  beforeAll(async () => {
    gateway = await startGateway()
    const tenant = Object(await gateway.admin('tenant', 'create', '--name', 'Poor', '--credits', '0.69'))
    const key = Object(await gateway.admin('key', 'create', '--tenant', tenant.id, '--rate', 'none'))
    poor = { key: key.key, tenant: tenant.id }
    jobId = String((await gateway.api.create(GOOD)).json.id)
  })

  afterAll(async () => {
    await gateway.stop()
  })

  it('create-video-job 201: has the submit reply of the upstream and the gateway fields', async () => {
    const { status, json } = await gateway.api.create(GOOD)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      object: 'video.generation',
      status: 'queued',
      model: GOOD.model,
      output: { task_status: 'PENDING' },
    })
    expect(json.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(json).not.toHaveProperty('url')
  })

  it('create-video-job 201: names ignored fields, also for a repeated idempotency key', async () => {
    const ignored = 'durration, seconds, %C5%BFize'
    const body = { ...GOOD, durration: 5, seconds: '5', ſize: '720x1280' }
    for (let count = 0; count < 2; count += 1) {
      const { status, headers } = await gateway.api.create(body, { 'idempotency-key': 'ignored-fields' })
      expect({ status, ignored: headers.get('x-reelgate-ignored') }).toStrictEqual({ status: 201, ignored })
    }
    expect((await gateway.api.create(GOOD)).headers.get('x-reelgate-ignored')).toBeNull()
  })

  it.each([
    ['an empty body', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['malformed JSON', '{"model":'],
    ['a million brackets', '['.repeat(1_000_000)],
    ['a blank prompt', JSON.stringify({ ...GOOD, prompt: '  ' })],
    ['a wrong duration', JSON.stringify({ ...GOOD, duration: 16 })],
    ['an unknown model', JSON.stringify({ ...GOOD, model: 'famC' })],
    ['a callback host that is not allowed', JSON.stringify({ ...GOOD, callback_url: 'https://evil.example/' })],
  ])('create-video-job 400: %s is in the details', async (_, body) => {
    const { status, json } = await gateway.api.create(body)
    expect(status).toBe(400)
    expect(json.error).toBe('invalid request body')
    expect(json.details).toEqual([{ path: expect.any(String), message: expect.any(String) }])
  })

  it('create-video-job 400: an idempotency key above 255 characters', async () => {
    expect((await gateway.api.create(GOOD, { 'idempotency-key': 'k'.repeat(256) })).status).toBe(400)
  })

  it.each([
    ['no key', undefined],
    ['an unknown key', 'other'],
    ['a key with a wrong checksum', `rg_live_${'a'.repeat(8)}_${'b'.repeat(38)}`],
  ])('create-video-job 401, get-video-job 401, list-video-jobs 401, delete-video-job 401: %s', async (_, key) => {
    const api = gateway.api.withKey(key)
    const answers = await Promise.all([api.create('{'), api.get(jobId), api.list(), api.delete(jobId)])
    const advice = [{ path: '', message: 'send it as `Authorization: Bearer <key>`' }]
    const json = { error: 'invalid api key', ...(key === undefined ? { details: advice } : {}) }
    for (const { status, text } of answers) {
      expect({ status, json: JSON.parse(text) }).toEqual({ status: 401, json })
    }
  })

  it('create-video-job 402: a balance one microcredit too low reserves nothing', async () => {
    const { status, text } = await gateway.api.withKey(poor.key).create({ ...GOOD, duration: 5 })
    expect({ status, json: JSON.parse(text) }).toStrictEqual({
      status: 402,
      json: {
        error: 'insufficient quota for this video generation',
        details: [{ path: '', message: '0.7 credits are needed, but 0.69 are available' }],
      },
    })
    expect(await gateway.admin('tenant', 'show', '--tenant', poor.tenant)).toMatchObject({
      available: '0.69',
      held: '0',
      spent: '0',
    })
  })

  it('create-video-job 429, get-video-job 429, list-video-jobs 429, delete-video-job 429: a key above its rate', async () => {
    const { key } = Object(await gateway.admin('key', 'create', '--tenant', 'demo', '--rate', '1'))
    const api = gateway.api.withKey(key)
    const first = await api.list()
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const answers = await Promise.all([api.create('{'), api.get(jobId), api.list(), api.delete(jobId)])
    for (const { status, text, headers } of answers) {
      const wait = headers.get('retry-after')
      const message = `this key may send 1 a minute, and 1 at once after a rest: wait ${wait} s`
      expect(status).toBe(429)
      expect(JSON.parse(text)).toEqual({ error: 'rate limit exceeded', details: [{ path: '', message }] })
      expect(wait).toMatch(/^(5\d|6[0-5])$/)
    }
  })

  it('create-video-job 429: a tenant at its limit of open jobs, whose accepted creates can be repeated', async () => {
    const tenant = Object(await gateway.admin('tenant', 'create', '--name', 'Limited', '--credits', '10'))
    const { key } = Object(await gateway.admin('key', 'create', '--tenant', tenant.id))
    await gateway.admin('tenant', 'limit', '--tenant', tenant.id, '--open-jobs', '1')
    const api = gateway.api.withKey(key)
    const headers = { 'idempotency-key': 'first' }
    const first = await api.create(GOOD, headers)
    expect(first.status).toBe(201)
    const second = await api.create(GOOD)
    expect({ status: second.status, text: second.text }).toEqual({
      status: 429,
      text: '{"error":"too many open video jobs"}',
    })
    expect(second.headers.get('retry-after')).toBe('10')
    expect((await api.create(GOOD, headers)).text).toBe(first.text)
  })

  it('create-video-job 409: an idempotency key with another body; the same body gives the same job', async () => {
    const headers = { 'idempotency-key': 'once' }
    const [first, again] = await Promise.all([gateway.api.create(GOOD, headers), gateway.api.create(GOOD, headers)])
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    const other = await gateway.api.create({ ...GOOD, duration: 6 }, headers)
    expect({ status: other.status, text: other.text }).toEqual({
      status: 409,
      text: '{"error":"idempotency key reused with a different body"}',
    })
    await gateway.api.delete(String(first.json.id))
    expect(await gateway.api.create(GOOD, headers)).toMatchObject({
      status: 409,
      json: { details: [{ path: '', message: 'the job of this key was deleted: send a new key for another video' }] },
    })
  })

  it('create-video-job 413: a body above 5 MB in the shape of the route, above 10 MB in that of the platform', async () => {
    const large = await gateway.api.create(JSON.stringify({ ...GOOD, padding: 'x'.repeat(5 * 1024 * 1024) }))
    expect({ status: large.status, text: large.text }).toEqual({
      status: 413,
      text: '{"error":"request body too large"}',
    })
    const huge = await gateway.api.create('x'.repeat(10 * 1024 * 1024 + 1))
    expect(huge.status).toBe(413)
    expect(huge.json).toMatchObject({ error: { message: 'request body too large' } })
  })

  it('get-video-job 200: the upstream reply with the gateway fields', async () => {
    const { status, json, headers } = await gateway.api.get(jobId)
    expect(status).toBe(200)
    expect(json).toMatchObject({ id: jobId, object: 'video.generation', output: { task_id: expect.any(String) } })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('get-video-job 404, delete-video-job 404: foreign, unknown, malformed and upper-case ids return the same bytes', async () => {
    const foreign = gateway.api.withKey(poor.key)
    const answers = await Promise.all([
      foreign.get(jobId),
      foreign.delete(jobId),
      gateway.api.get(UNKNOWN_ID),
      gateway.api.delete(UNKNOWN_ID),
      gateway.api.get('not-a-uuid'),
      gateway.api.get('%00'),
      gateway.api.get('%zz'),
      gateway.api.get(jobId.toUpperCase()),
      gateway.api.delete(jobId.toUpperCase()),
    ])
    for (const { status, text } of answers) {
      expect({ status, text }).toEqual({ status: 404, text: NOT_FOUND })
    }
    expect((await gateway.api.get(jobId)).status).toBe(200)
  })

  it('list-video-jobs 200: only the jobs of the caller, newest first, in pages', async () => {
    const { status, json } = await gateway.api.list('?limit=1')
    expect(status).toBe(200)
    expect(json).toMatchObject({ object: 'list', has_more: true, data: [{ object: 'video.generation' }] })
    const second = await gateway.api.list(`?limit=1&after=${json.last_id}`)
    expect(second.text).toContain((await gateway.api.list('?limit=1&offset=1')).json.last_id as string)
    const none = await gateway.api.withKey(poor.key).list()
    expect(none.text).toBe('{"object":"list","data":[],"has_more":false,"last_id":null}')
  })

  it('list-video-jobs 400: an offset above 10,000 and a cursor that is not a UUID', async () => {
    expect((await gateway.api.list('?offset=10001')).status).toBe(400)
    expect((await gateway.api.list('?after=x')).json.error).toBe('invalid request body')
  })

  it('delete-video-job 200: once; a second call is 404', async () => {
    const id = String((await gateway.api.create(GOOD)).json.id)
    expect((await gateway.api.delete(id)).text).toBe('{"deleted":true}')
    expect((await gateway.api.delete(id)).text).toBe(NOT_FOUND)
    expect((await gateway.api.list('?limit=100')).text).not.toContain(id)
  })

  it('returns the error shape of the route family for unknown paths and methods', async () => {
    const text = async (method: string, path: string) => (await gateway.api.send(method, path)).text
    expect(await text('GET', '/v1/video/nothing')).toMatch(
      /^\{"error":"not found","details":\[\{"path":"","message":"GET \/v1\/video\/nothing is not served\./,
    )
    expect(await text('PATCH', '/v1/video/generations')).toBe('{"error":"method not allowed"}')
    expect(await text('GET', '/v1/nothing')).toContain('"message":"not found: GET /v1/nothing is not served.')
    expect((await gateway.api.send('PUT', `/v1/video/generations/${jobId}`)).headers.get('allow')).toBe('GET, DELETE')
  })

  it('refuses a revoked key from the next request on', async () => {
    const key = Object(await gateway.admin('key', 'create', '--tenant', 'demo', '--models', 'famB-1.1-i2v'))
    const api = gateway.api.withKey(key.key)
    expect((await api.list()).status).toBe(200)
    expect((await api.create(GOOD)).json.details).toEqual([{ path: 'model', message: expect.any(String) }])
    await gateway.admin('key', 'revoke', '--key', key.id)
    expect((await api.list()).status).toBe(401)
  })
})

describe('strict handling', () => {
  const GOOD = { model: 'famB-1.1-t2v', prompt: 'a cat runs on grass' }
  const STRICT = { prefer: 'handling=strict' }

  let gateway: Gateway
  let jobId: string

  beforeAll(async () => {
    gateway = await startGateway()
    jobId = String((await gateway.api.create(GOOD)).json.id)
    // From then on the balance changes only if a refused request spends something.
    await gateway.api.until(jobId, 'succeeded')
  })
  afterAll(async () => {
    await gateway.stop()
  })

  const pathOf = (template: string) => template.replace('{job_id}', jobId).replace('{model}', 'chat-default')

  async function balance() {
    const { available, held } = Object(await gateway.admin('tenant', 'show', '--tenant', 'demo'))
    return { available, held }
  }

  describe('a strict request', () => {
    it.each([...ROUTES])('of $operation with an unknown query parameter is refused', async (route) => {
      const before = await balance()
      const example = exampleOf(route.operation)
      const body = example && JSON.stringify(example.body)
      const answer = await gateway.api.send(route.method, `${pathOf(route.path)}?no-such=1`, body, STRICT)
      expect({ status: answer.status, applied: answer.headers.get('preference-applied') }).toStrictEqual({
        status: 400,
        applied: 'handling=strict',
      })
      const message = 'the query parameter `no-such` would be ignored: correct its name or leave it out'
      const refusals = {
        video: { error: 'invalid request body', details: [{ path: 'no-such', message }] },
        messages: { type: 'error', error: { type: 'invalid_request_error', message } },
        openai: { error: { message, type: 'invalid_request_error', param: 'no-such', code: null } },
      }
      expect(answer.json).toStrictEqual(refusals[errorShapeOf(route.path)])
      expect(await balance()).toStrictEqual(before)
    })

    it('delete-video-job 400: the job of a refused request is still there', async () => {
      const job = `/v1/video/generations/${jobId}`
      expect((await gateway.api.send('DELETE', job, '{"force":true}', STRICT)).json).toMatchObject({
        details: [{ path: 'force' }],
      })
      expect((await gateway.api.get(jobId)).status).toBe(200)
    })

    it('create-video-job 400: a strict request with unknown fields creates nothing', async () => {
      const before = (await gateway.api.list('?limit=100')).text.length
      const { status, json } = await gateway.api.create({ ...GOOD, durration: 5, ſize: 1 }, STRICT)
      expect({ status, json }).toMatchObject({
        status: 400,
        json: { details: [{ path: 'durration' }, { path: 'ſize' }] },
      })
      expect((await gateway.api.list('?limit=100')).text).toHaveLength(before)
    })

    it('a 401 comes before a strict refusal', async () => {
      const { status } = await gateway.api.withKey('other').send('GET', '/v1/models?no-such=1', undefined, STRICT)
      expect(status).toBe(401)
    })
  })

  describe('a request that is not strict', () => {
    it('is served, and the response names what was ignored', async () => {
      const { status, headers } = await gateway.api.send('GET', '/v1/video/generations?limt=1&limit=1')
      expect({ status, ignored: headers.get('x-reelgate-ignored') }).toStrictEqual({ status: 200, ignored: 'limt' })
    })

    it('is what an unknown path makes of a strict one', async () => {
      expect((await gateway.api.send('GET', '/v1/nothing?a=1', undefined, STRICT)).status).toBe(404)
      expect((await gateway.api.send('PUT', '/v1/models?a=1', '{"a":1}', STRICT)).status).toBe(405)
    })
  })

  describe('several Prefer lines', () => {
    it.each([
      [['respond-async', 'handling=strict'], 400],
      [['handling=strict', 'handling=lenient'], 400],
      [['handling=lenient', 'handling=strict'], 200],
    ])('%j: status %i', async (prefer, status) => {
      const headers = [
        'host',
        new URL(gateway.url).host,
        'authorization',
        'Bearer e2e-key',
        ...prefer.flatMap((line) => ['Prefer', line]),
      ]
      const sent = request(`${gateway.url}/v1/models?no-such=1`, { headers }).end()
      const [response] = await once(sent, 'response')
      const body = await readText(response)
      expect({ status: response.statusCode, isNamed: body.includes('no-such') }).toStrictEqual({
        status,
        isNamed: status === 400,
      })
    })
  })
})
