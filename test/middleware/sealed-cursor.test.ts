import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Session } from '#core/admin/session.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { adminEvent, tableWithSession } from './admin-exchange.ts'
import { captureLog, context } from './api-exchange.ts'

/** Where each page ends: at a row that its reader may not see. */
const POSITION = 'a-key-of-another-tenant'

const ACME: Partial<Session> = { role: 'tenant-admin', tenant: { id: 'acme', name: 'Acme' }, holder: 'oidc#ada' }

beforeAll(() => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  captureLog()
})

/** Asks for a page of a list. @returns what the operation got as `after`, and the response. */
async function page(operation: 'list-keys' | 'list-audit', session: Partial<Session>, query: Record<string, string>) {
  const received: (string | undefined)[] = []
  const rows = ALL_ADMIN_ROUTES.filter((route) => route.operation === operation).map((route) => ({
    ...route,
    serve: async ({ queryStringParameters }: ReturnType<typeof adminEvent>) => {
      received.push(queryStringParameters?.after)
      return { body: { keys: [], has_more: true, next: POSITION, as_of: '' } }
    },
  }))
  const handler = adminHandler('read', rows, { openTable: tableWithSession(session) })
  const event = adminEvent('GET', rows[0]?.path ?? '', { queryStringParameters: query })
  const { statusCode, body } = await handler(event, context)
  return { received, status: statusCode, text: body, body: JSON.parse(body) }
}

async function cursorOf(session: Partial<Session>, query: Record<string, string> = {}): Promise<string> {
  return (await page('list-keys', session, query)).body.next
}

describe('the cursor of a list of the admin API', () => {
  it('cannot be read, and continues the list where the page before ended', async () => {
    const cursor = await cursorOf(ACME)
    expect(encodeURIComponent(cursor)).toBe(cursor)
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain(POSITION)
    const { status, received, text } = await page('list-keys', ACME, { after: cursor, tenant: 'acme', limit: '5' })
    expect([status, received]).toEqual([200, [POSITION]])
    expect(text).not.toContain(POSITION)
  })

  it.each<[string, () => Promise<string>]>([
    ['that somebody made', async () => POSITION],
    ['that somebody changed', async () => (await cursorOf(ACME)).replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
    ['of another user', () => cursorOf({ ...ACME, holder: 'oidc#eve' })],
    ['of another tenant', () => cursorOf({ ...ACME, tenant: { id: 'rival', name: 'Rival' } })],
    ['of an owner who sees all', () => cursorOf({ role: 'owner', holder: 'oidc#ada' })],
  ])('is refused with 400 for one %s', async (_, forged) => {
    const { status, received, body } = await page('list-keys', ACME, { after: await forged() })
    expect([status, received, body.error]).toMatchObject([400, [], { param: 'after' }])
  })

  it('is refused with 400 for another list, and another tenant of an owner', async () => {
    const owner = { role: 'owner', holder: 'oidc#ada' } as const
    const after = await cursorOf(owner, { tenant: 'acme' })
    expect((await page('list-audit', owner, { after })).status).toBe(400)
    expect((await page('list-keys', owner, { after, tenant: 'rival' })).status).toBe(400)
    expect((await page('list-keys', owner, { after, tenant: 'acme' })).received).toEqual([POSITION])
  })
})
