import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { AdminRoute } from '#core/admin/routes.ts'
import type { Session } from '#core/admin/session.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { GIVEN_ROLES, isOfTenant, mayAccess, type Role } from '#core/roles.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { VerificationRate } from '#lambdas/admin/verification-rate.ts'
import { readOperations } from '#lambdas/admin-api/read/read-operations.ts'
import { summarySource } from '#lambdas/admin-api/read/summary-source.ts'
import { writeOperations } from '#lambdas/admin-api/write/write-operations.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { requestOf } from '../admin-api/admin-requests.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { useSecretsManager } from '../platform/fake-secrets-manager.ts'
import { adminEvent, keyEvent, tableWithAdminKey, tableWithSession } from './admin-exchange.ts'
import { captureLog, context } from './api-exchange.ts'

const { newSecret } = useSecretsManager()

const environment = { ...process.env }
beforeEach(() => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  delete process.env.FRONT_DOOR_SECRET_ARN
  captureLog()
})
afterEach(() => {
  jest.restoreAllMocks()
})
afterAll(() => {
  process.env = environment
})

const ROLES: readonly Role[] = [...GIVEN_ROLES, 'tenant']

const ROWS = ALL_ADMIN_ROUTES.filter((route) => route.function !== 'sign-in')

type Sent = {
  /** What the table throws; nothing of it can be read but the session. */
  readonly fault?: Error
  readonly session?: Partial<Session>
  readonly headers?: Record<string, string | undefined>
  readonly query?: Record<string, string>
  readonly body?: string
}

/** The status of a request through the chain of its function. */
async function statusOf(route: AdminRoute, { fault, session, headers = {}, query, body }: Sent): Promise<number> {
  const request = requestOf(route)
  const openTable = tableWithSession(session)
  const handler = handlerOf(route, { fault: fault ?? new Error('the test reads no table'), openTable })
  const sent = body ?? request.body
  const event = adminEvent(route.method, request.path, {
    ...(sent === undefined ? {} : { body: sent }),
    queryStringParameters: { ...request.query, ...query },
    headers,
  })
  return (await handler(event, context)).statusCode
}

type Opened = { readonly fault: Error; readonly openTable: ReturnType<typeof tableWithSession> }

function handlerOf(route: AdminRoute, { fault, openTable }: Opened) {
  const fail = async () => {
    throw fault
  }
  const table = { readItem: fail, readItems: fail, queryPage: fail, updateItem: fail, transact: fail }
  const signedIn = { openTable }
  if (route.function === 'write') {
    const operations = writeOperations({
      table,
      nowMilliseconds: Date.now,
      openBucket: fail,
      openCatalogue: () => testCatalogue(),
      openUrlSigner: fail,
    })
    return adminHandler('write', operations, signedIn)
  }
  const operations = readOperations({
    table: () => table,
    config: () => testCatalogue().config,
    figures: async () => undefined,
    summary: summarySource({ table: () => table, now: Date.now, isLive: false }),
    verifications: new VerificationRate(),
    describeExecution: fail,
    openBucket: fail,
    openSigner: fail,
    now: Date.now,
  })
  return adminHandler('read', operations, signedIn)
}

describe.each(ROWS.map((route) => [route.operation, route] as const))('%s through its chain', (_, route) => {
  it('400: an unknown query parameter', async () => {
    expect(await statusOf(route, { query: { nothing: '1' } })).toBe(400)
  })

  it('401: without a session', async () => {
    expect(await statusOf(route, { headers: { cookie: undefined } })).toBe(401)
  })

  it('403: a lesser role, a page of another site, and a name that only points to this machine', async () => {
    for (const role of ROLES.filter((each) => !mayAccess(each, route.access))) {
      const session = { role, tenant: isOfTenant(role) ? { id: 'acme', name: 'Acme' } : null }
      expect([role, await statusOf(route, { session })]).toEqual([role, 403])
      // A role is judged before a body.
      expect([role, await statusOf(route, { session, body: '{' })]).toEqual([role, 403])
    }
    expect(await statusOf(route, { headers: { host: 'evil.example' } })).toBe(403)
    if (route.method !== 'GET') {
      expect(await statusOf(route, { headers: { origin: 'http://evil.example' } })).toBe(403)
    }
  })

  it('404: without the secret of the front door', async () => {
    process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'right' })
    expect(await statusOf(route, {})).toBe(404)
    expect(await statusOf(route, { headers: { 'x-reelgate-front-door': 'wrong' } })).toBe(404)
  })

  it('429: an admin key beyond its rate', async () => {
    const spent = { isWritten: false, item: { windowEnds: Date.now() + 60_000, uses: 300 } }
    const openTable = tableWithAdminKey({ role: 'owner' }, async () => spent)
    const handler = handlerOf(route, { fault: new Error('the test reads no table'), openTable })
    const response = await handler(keyEvent(route.method, requestOf(route).path), context)
    expect(response).toMatchObject({ statusCode: 429, headers: { 'retry-after': '60' } })
  })

  it('500: a fault, whose cause stays in the log', async () => {
    expect(await statusOf(route, { fault: new Error('broken') })).toBe(500)
  })

  it('503: a table that stays out of reach', async () => {
    expect(await statusOf(route, { fault: new ServiceUnavailableError() })).toBe(503)
  })

  it('declares each of these statuses, and 413 where it takes a body', async () => {
    expect(route.errorStatuses).toEqual(expect.arrayContaining([400, 401, 403, 404, 429, 500, 503]))
    expect(route.errorStatuses.includes(413)).toBe(route.method !== 'GET')
    if (route.method !== 'GET') {
      expect(await statusOf(route, { body: JSON.stringify({ name: 'x'.repeat(70_000) }) })).toBe(413)
    }
  })
})
