import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import middy from '@middy/core'
import { formatAdminKey, formatApiKey } from '#core/api-key.ts'
import { RouteNotFoundError, ServiceUnavailableError } from '#core/errors.ts'
import {
  type AdminOperation,
  actorOf,
  adminHandler,
  countedFailures,
  currentSite,
  requireFrontDoor,
  sessionOf,
} from '#middleware/admin-chain.ts'
import { type ApiEvent, type ApiResult, MiddlewareOrderError } from '#middleware/api-event.ts'
import { errorResponse } from '#middleware/responses.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { useSecretsManager } from '../platform/fake-secrets-manager.ts'
import { ADMIN_KEY, adminEvent, keyEvent, servingAll, tableWithAdminKey, tableWithSession } from './admin-exchange.ts'
import { apiEvent, captureLog, context, REQUEST_ID } from './api-exchange.ts'

describe('adminHandler', () => {
  const environment = { ...process.env }
  let log: ReturnType<typeof captureLog>
  beforeEach(() => {
    process.env.CONSOLE_ORIGIN = 'loopback'
    log = captureLog()
    serve.mockReset().mockResolvedValue({ body: { object: 'key' } })
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(() => {
    process.env = environment
  })

  const serve: jest.MockedFunction<AdminOperation> = jest.fn()

  const handler = adminHandler('write', servingAll(serve), { openTable: tableWithSession() })
  const KEYS = '/admin/v1/keys'

  it('serves the operation of the path by its status, with the session, the parsed body and no cache', async () => {
    const response = await handler(adminEvent('POST', KEYS, { body: '{"tenant":"acme"}' }), context)
    expect(response).toMatchObject({
      statusCode: 201,
      headers: {
        ...{ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
        ...{ 'cache-control': 'no-store', 'x-request-id': REQUEST_ID },
      },
      body: '{"object":"key"}',
    })
    expect(serve.mock.calls[0]?.[0]).toMatchObject({ session: { actor: 'ada@host' }, json: { tenant: 'acme' } })
    expect(log.entries()).toEqual([expect.objectContaining({ operation: 'create-key', statusCode: 201 })])
  })

  it.each(['two\nlines', 'x'.repeat(500), ''])(
    'gives operations no request id that a client chose as %j',
    async (requestId) => {
      const event = adminEvent('POST', KEYS)
      const response = await handler({ ...event, requestContext: { ...event.requestContext, requestId } }, context)
      const seen = serve.mock.calls[0]?.[0].requestContext.requestId
      expect([seen, response.headers?.['x-request-id']]).toEqual([context.awsRequestId, context.awsRequestId])
    },
  )

  it('passes decoded parameters of the path, and an empty object for no body', async () => {
    serve.mockResolvedValue({ cookies: ['a=1', 'b=2'] })
    const query = { queryStringParameters: { tenant: 'acme' } }
    const response = await handler(adminEvent('DELETE', '/admin/v1/videos/a%2Fb', query), context)
    expect(response).toMatchObject({ statusCode: 204, body: '', multiValueHeaders: { 'set-cookie': ['a=1', 'b=2'] } })
    expect(serve.mock.calls[0]?.[0]).toMatchObject({ pathParameters: { job_id: 'a/b' }, json: {} })
  })

  it.each([
    ['an operation of another function', 'GET', '/admin/v1/session', 405],
    ['an unknown path', 'POST', '/admin/v1/nothing', 404],
  ])('refuses %s', async (_, method, path, statusCode) => {
    const response = await handler(adminEvent(method, path), context)
    const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
    expect(response).toMatchObject({ statusCode, headers })
  })

  it.each([
    [KEYS, 'GET, POST'],
    ['/admin/v1/overview', 'GET'],
    ['/admin/v1/tenants/acme/grants', 'POST'],
  ])('refuses an unknown method of %s with all that it takes, whichever function serves them', async (path, allow) => {
    for (const name of ['read', 'write'] as const) {
      const ofName = adminHandler(name, [], { openTable: tableWithSession() })
      expect(await ofName(adminEvent('PUT', path), context)).toMatchObject({ statusCode: 405, headers: { allow } })
    }
  })

  it.each<[string, Record<string, string | undefined>]>([
    ['without a cookie', { cookie: undefined }],
    ['with a cookie of garbage', { cookie: 'rg_console_8787=garbage' }],
    ['with the cookie of another port', { cookie: 'rg_console_9999=sessionsession16.n.x' }],
    ['without the secret of the page', { 'x-reelgate-page': undefined }],
    ['with another secret of the page', { 'x-reelgate-page': 'paGe' }],
  ])('refuses a request %s as not signed in', async (_, headers) => {
    const { statusCode, body } = await handler(adminEvent('POST', KEYS, { headers }), context)
    expect({ statusCode, body: JSON.parse(body) }).toMatchObject({
      statusCode: 401,
      body: { error: { code: 'not_signed_in' } },
    })
    expect(serve).not.toHaveBeenCalled()
  })

  it('takes two cookies of one name for none, in whatever order', async () => {
    const { cookie } = adminEvent('POST', KEYS).headers
    for (const both of [`${cookie}; rg_console_8787=x`, `rg_console_8787=x; ${cookie}`]) {
      expect(await handler(adminEvent('POST', KEYS, { headers: { cookie: both } }), context)).toMatchObject({
        statusCode: 401,
      })
    }
  })

  it.each<[string, Record<string, string | undefined>]>([
    ['no Origin', { origin: undefined }],
    ['the Origin of another port', { origin: 'http://localhost:9999' }],
    ['the Origin null', { origin: 'null' }],
    ['no header of the console', { 'x-reelgate-console': undefined }],
    ['a body of plain text', { 'content-type': 'text/plain' }],
    ['a body without a content type', { 'content-type': undefined }],
    ['a name that points to this machine', { host: 'evil.example:8787', origin: 'http://evil.example:8787' }],
  ])('refuses a signed-in request with %s', async (_, headers) => {
    const response = await handler(adminEvent('POST', KEYS, { body: '{}', headers }), context)
    expect(response).toMatchObject({ statusCode: 403 })
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'cross_site_request' } })
    expect(serve).not.toHaveBeenCalled()
  })

  it.each(['viewer', 'tenant'] as const)('refuses the role %s where an owner is needed', async (role) => {
    const limited = adminHandler('write', servingAll(serve), { openTable: tableWithSession({ role }) })
    const response = await limited(adminEvent('POST', KEYS, { body: '{"role":"owner"}' }), context)
    expect(response).toMatchObject({ statusCode: 403 })
    expect(JSON.parse(response.body)).toMatchObject({ error: { code: 'forbidden' } })
    expect(serve).not.toHaveBeenCalled()
  })

  it('refuses unknown query parameters, and known ones that are given twice', async () => {
    const unknown = await handler(adminEvent('POST', KEYS, { queryStringParameters: { x: '1' } }), context)
    expect(JSON.parse(unknown.body)).toMatchObject({ error: { param: 'x' } })
    const twice = { queryStringParameters: { tenant: 'b' }, multiValueQueryStringParameters: { tenant: ['a', 'b'] } }
    const repeated = await handler(adminEvent('DELETE', '/admin/v1/videos/1', twice), context)
    expect(JSON.parse(repeated.body)).toMatchObject({ error: { param: 'tenant' } })
    expect([unknown.statusCode, repeated.statusCode]).toEqual([400, 400])
  })

  it('refuses a body that is too large or no JSON', async () => {
    const large = await handler(adminEvent('POST', KEYS, { body: `"${'x'.repeat(65_536)}"` }), context)
    const broken = await handler(adminEvent('POST', KEYS, { body: '{' }), context)
    expect([large.statusCode, broken.statusCode]).toEqual([413, 400])
  })
})

describe('adminHandler: a request with an admin key', () => {
  const environment = { ...process.env }
  let log: ReturnType<typeof captureLog>
  beforeEach(() => {
    process.env.CONSOLE_ORIGIN = 'https://console.example.com'
    log = captureLog()
    serve.mockReset().mockResolvedValue({ body: {} })
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(() => {
    process.env = environment
  })

  const serve: jest.MockedFunction<AdminOperation> = jest.fn()
  const KEYS = '/admin/v1/keys'
  const send = async (event: ApiEvent, openTable = tableWithAdminKey({ role: 'owner' })) => {
    const { statusCode, body } = await adminHandler('write', servingAll(serve), { openTable })(event, context)
    return { status: statusCode, code: JSON.parse(body).error?.code }
  }

  it('needs no cookie, no page secret, no header of the console and no origin, and acts under the name of the key', async () => {
    expect(await send(keyEvent('POST', KEYS, { body: '{}' }))).toMatchObject({ status: 201 })
    const event = serve.mock.calls[0]?.[0]
    expect(event && actorOf(event)).toMatchObject({ name: 'ci (adminkey)', role: 'owner' })
  })

  it('has the tenant of a key of a tenant', async () => {
    const tenant = { id: 'acme', name: 'Acme' }
    await send(keyEvent('POST', KEYS, { body: '{}' }), tableWithAdminKey({ role: 'tenant-admin', tenant }))
    expect(serve.mock.calls[0]?.[0].session).toMatchObject({ role: 'tenant-admin', tenant })
  })

  it('does not count as its cookie, whoever is signed in', async () => {
    const bearer = { authorization: 'Bearer rg_admin_x' }
    expect(await send(adminEvent('POST', KEYS, { body: '{}', headers: bearer }))).toEqual({
      status: 401,
      code: 'invalid_admin_key',
    })
  })

  it.each([
    ['a mistyped key', `${ADMIN_KEY.slice(0, -1)}#`],
    ['a key with another secret', formatAdminKey('adminkey', 'y'.repeat(32))],
    ['an API key', formatApiKey('adminkey', 'x'.repeat(32))],
    ['something else', 'eyJhbGciOiJub25lIn0.e30.'],
    ['a key of two words', `${ADMIN_KEY} ${ADMIN_KEY}`],
  ])('is refused for %s, and nothing of it is repeated', async (_, key) => {
    expect(await send(keyEvent('POST', KEYS, { body: '{}' }, key))).toEqual({ status: 401, code: 'invalid_admin_key' })
    expect(serve).not.toHaveBeenCalled()
    const refused = { message: 'admin key refused', address: expect.any(String) }
    expect(log.entries()).toContainEqual(expect.objectContaining(refused))
  })

  it('is refused with 429 after ten wrong keys of the address within a minute', async () => {
    const spent = async () => ({ isWritten: false, item: { windowEnds: Date.now() + 60_000, uses: 10 } })
    const wrong = keyEvent('POST', KEYS, { body: '{}' }, formatAdminKey('adminkey', 'y'.repeat(32)))
    expect(await send(wrong, tableWithAdminKey({ role: 'owner' }, spent))).toMatchObject({ status: 429 })
  })

  it('is refused where a session of the console is needed', async () => {
    expect(await send(keyEvent('POST', '/admin/v1/playground/key', { body: '{}' }))).toEqual({
      status: 403,
      code: 'forbidden',
    })
  })

  it.each(['/admin/v1/session', '/admin/v1/sessions'])(
    'is refused at %s, whose cookie does not count',
    async (path) => {
      const handler = adminHandler('sign-in', servingAll(serve, 'sign-in'), { openTable: tableWithSession() })
      const bearer = { authorization: `Bearer ${ADMIN_KEY}` }
      const { statusCode, body } = await handler(adminEvent('GET', path, { headers: bearer }), context)
      expect([statusCode, body]).toEqual([403, expect.stringContaining('an admin key cannot call it')])
      expect(serve).not.toHaveBeenCalled()
    },
  )

  it('of a role that the operation does not serve is refused', async () => {
    const openTable = tableWithAdminKey({ role: 'finance' })
    expect(await send(keyEvent('POST', KEYS, { body: '{}' }), openTable)).toEqual({ status: 403, code: 'forbidden' })
  })
})

const SESSION = {
  id: 's',
  kind: 'admin_key',
  actor: 'ada',
  role: 'viewer',
  tenant: null,
  keyId: 'k',
  holder: 'k',
  createdAt: 0,
  seenAt: 0,
  expiresAt: 1,
} as const

describe('actorOf: an event of the admin API', () => {
  it('names its user for the audit log, with the request', () => {
    const event = { ...adminEvent('GET', '/admin/v1/session'), session: SESSION }
    expect(sessionOf(event)).toBe(SESSION)
    expect(actorOf(event)).toEqual({ name: 'ada', role: 'viewer', requestId: REQUEST_ID })
  })

  it('without a session is a fault of the handler', () => {
    expect(() => sessionOf(adminEvent('GET', '/admin/v1/session'))).toThrow(MiddlewareOrderError)
  })
})

describe('countedFailures', () => {
  beforeEach(() => {
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  /** What is counted for a handler that does this. */
  async function countedFor(handle: () => Promise<ApiResult>): Promise<string[]> {
    const telemetry = captureTelemetry()
    telemetry.reset()
    const chain = middy<ApiEvent, ApiResult>().use(countedFailures('console_failed')).use(errorResponse())
    await chain.handler(handle)(apiEvent(), context)
    return telemetry.counted()
  }

  it('counts an internal error, thrown or returned', async () => {
    expect(await countedFor(() => Promise.reject(new TypeError('unexpected')))).toEqual(['console_failed'])
    expect(await countedFor(async () => ({ statusCode: 500, body: '' }))).toEqual(['console_failed'])
  })

  it('counts no success and no failure of something else', async () => {
    expect(await countedFor(async () => ({ statusCode: 200, body: '' }))).toEqual([])
    expect(await countedFor(() => Promise.reject(new ServiceUnavailableError()))).toEqual([])
  })
})

describe('requireFrontDoor', () => {
  const { newSecret } = useSecretsManager()

  const arn = process.env.FRONT_DOOR_SECRET_ARN
  beforeEach(() => {
    delete process.env.FRONT_DOOR_SECRET_ARN
  })
  afterAll(() => {
    process.env.FRONT_DOOR_SECRET_ARN = arn
  })

  function withSecret(value?: string) {
    return apiEvent(value === undefined ? {} : { headers: { 'X-Reelgate-Front-Door': value } })
  }

  it('lets every request through where there is no front door', async () => {
    await expect(requireFrontDoor(withSecret())).resolves.toBeUndefined()
  })

  it('lets only requests with a secret of the front door through', async () => {
    process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'new', previous: 'old' })
    await expect(requireFrontDoor(withSecret('new'))).resolves.toBeUndefined()
    await expect(requireFrontDoor(withSecret('old'))).resolves.toBeUndefined()
    await expect(requireFrontDoor(withSecret('other'))).rejects.toBeInstanceOf(RouteNotFoundError)
    await expect(requireFrontDoor(withSecret())).rejects.toBeInstanceOf(RouteNotFoundError)
  })

  it('reads where the console is from the environment', () => {
    expect(currentSite({ CONSOLE_ORIGIN: 'loopback' })).toEqual({ isLoopback: true, origins: [] })
    expect(currentSite({ CONSOLE_ORIGIN: 'https://a.example' }).origins).toEqual(['https://a.example'])
  })
})
