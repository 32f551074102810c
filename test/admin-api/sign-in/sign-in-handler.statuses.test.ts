import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceUnavailableError } from '#core/errors.ts'
import { signInHandler } from '#lambdas/admin-api/sign-in/sign-in-handler.ts'
import type { Table } from '#store/table/table.ts'
import { adminEvent, tableWithSession } from '../../middleware/admin-exchange.ts'
import { captureLog, context } from '../../middleware/api-exchange.ts'
import { useSecretsManager } from '../../platform/fake-secrets-manager.ts'

const { errors, newSecret } = useSecretsManager()

const environment = { ...process.env }
beforeEach(() => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  process.env.CONSOLE_OIDC = ''
  delete process.env.FRONT_DOOR_SECRET_ARN
  captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(() => {
  process.env = environment
})

const REQUESTS: Readonly<Record<string, readonly [string, string]>> = {
  'get-sign-in': ['GET', '/admin/v1/sign-in'],
  'create-session': ['POST', '/admin/v1/session'],
  'get-session': ['GET', '/admin/v1/session'],
  'sign-out': ['DELETE', '/admin/v1/session'],
  'list-sessions': ['GET', '/admin/v1/sessions'],
  'sign-out-everywhere': ['DELETE', '/admin/v1/sessions'],
  'end-session': ['DELETE', '/admin/v1/sessions/0123456789abcdef'],
  'start-oidc': ['GET', '/admin/v1/oidc/start'],
  'finish-oidc': ['GET', '/admin/v1/oidc/callback'],
}

/** A table that has the session and fails in everything else. */
function failingTable(error: Error, isSessionRead = true): () => Table {
  const fail = async () => {
    throw error
  }
  const readItems = isSessionRead ? tableWithSession({ seenAt: 0 })().readItems : fail
  return () => ({ readItem: fail, readItems, queryPage: fail, updateItem: fail, transact: fail })
}

type Sent = Parameters<typeof adminEvent>[2]

async function statusOf(name: string, table: () => Table, sent: Sent = {}): Promise<number> {
  const [operation = ''] = name.split(' ')
  const [method = '', path = ''] = REQUESTS[operation] ?? []
  const handler = signInHandler({ table, environment: process.env })
  const body = operation === 'create-session' ? { body: '{"key":"nothing"}' } : {}
  return (await handler(adminEvent(method, path, { ...body, ...sent }), context)).statusCode
}

const NO_TABLE = failingTable(new Error('the test reads no table'))

describe('statuses of sign-in', () => {
  it.each(['get-session 400', 'sign-out 400', 'sign-out-everywhere 400', 'end-session 400', 'get-sign-in 400'])(
    '%s: an unknown query parameter',
    async (name) => {
      expect(await statusOf(name, NO_TABLE, { queryStringParameters: { x: '1' } })).toBe(400)
    },
  )

  it.each(['get-sign-in 403', 'get-session 403', 'list-sessions 403'])(
    '%s: a name that only points to this machine',
    async (name) => {
      expect(await statusOf(name, NO_TABLE, { headers: { host: 'evil.example' } })).toBe(403)
    },
  )

  it.each([
    'get-sign-in 404',
    'create-session 404',
    'get-session 404',
    'sign-out 404',
    'list-sessions 404',
    'sign-out-everywhere 404',
  ])('%s: without the secret of the front door', async (name) => {
    process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'right' })
    expect(await statusOf(name, NO_TABLE)).toBe(404)
    expect(await statusOf(name, NO_TABLE, { headers: { 'x-reelgate-front-door': 'wrong' } })).toBe(404)
  })

  it.each([
    'create-session 500',
    'get-session 500',
    'sign-out 500',
    'list-sessions 500',
    'sign-out-everywhere 500',
    'end-session 500',
  ])('%s: a fault, whose cause stays in the log', async (name) => {
    expect(await statusOf(name, failingTable(new Error('broken')))).toBe(500)
  })

  it.each(['get-sign-in 500', 'start-oidc 500', 'finish-oidc 500'])(
    '%s: a deployment with broken settings',
    async (name) => {
      process.env.CONSOLE_OIDC = '{'
      expect(await statusOf(name, NO_TABLE)).toBe(500)
    },
  )

  it.each([
    'create-session 503',
    'get-session 503',
    'sign-out 503',
    'list-sessions 503',
    'sign-out-everywhere 503',
    'end-session 503',
  ])('%s: a table that stays out of reach', async (name) => {
    expect(await statusOf(name, failingTable(new ServiceUnavailableError()))).toBe(503)
  })

  it.each(['start-oidc 503', 'finish-oidc 503'])(
    '%s: a secret of the front door that stays out of reach',
    async (name) => {
      process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'right' })
      errors.push(...Array.from({ length: 50 }, () => ({ status: 400, __type: 'ThrottlingException' })))
      const headers = { 'x-reelgate-front-door': 'right' }
      expect(await statusOf(name, NO_TABLE, { headers })).toBe(503)
      errors.length = 0
    },
    20_000,
  )
})
