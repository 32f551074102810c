import type { AdminFunction } from '#core/admin/routes.ts'
import type { Session } from '#core/admin/session.ts'
import { formatAdminKey } from '#core/api-key.ts'
import type { GivenRole } from '#core/roles.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import type { AdminOperation, ServedOperation } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { sessionItemOf } from '#store/sessions/find-session.ts'
import type { Item, Table } from '#store/table/table.ts'
import type { TableKey } from '#store/table/table-keys.ts'
import { apiEvent } from './api-exchange.ts'

const SESSION_ID = 'sessionsession16'

/** The token of {@link tableWithSession}. */
const TOKEN = `${SESSION_ID}.n.${'x'.repeat(43)}`

/** The host and the origin of the requests of {@link adminEvent}. */
const HOST = 'localhost:8787'

/**
 * A table that holds one session, which needs the page secret `page`; other items are those of `table`, or a
 * tenant for each key.
 */
export function tableWithSession(
  fields: Partial<Session> = {},
  table: Pick<Table, 'readItems'> = { readItems: async (keys) => keys.map(tenantItemOf) },
): () => Pick<Table, 'readItems' | 'updateItem'> {
  const session: Session = {
    id: SESSION_ID,
    kind: 'local',
    actor: 'ada@host',
    role: 'owner',
    tenant: null,
    keyId: null,
    holder: 'local',
    createdAt: Date.now(),
    seenAt: Date.now(),
    expiresAt: Date.now() + 60_000,
    ...fields,
  }
  const item: Item = sessionItemOf({ session, digest: sha256Hex(TOKEN), pageDigest: sha256Hex('page') })
  return () => ({
    updateItem: () => Promise.reject(new Error('a session counts no requests')),
    readItems: async ([key, ...others]) => [
      key?.SK === SESSION_ID ? item : undefined,
      ...(others.length === 0 ? [] : await table.readItems(others)),
    ],
  })
}

/** An admin key of {@link tableWithAdminKey}. */
export const ADMIN_KEY = formatAdminKey('adminkey', 'x'.repeat(32))

/** A table that holds one admin key, and counts requests as `updateItem` says; by default each is the first one. */
export function tableWithAdminKey(
  fields: { readonly role: GivenRole; readonly tenant?: Session['tenant'] },
  updateItem: Table['updateItem'] = async () => ({
    isWritten: true,
    item: { windowEnds: Date.now() + 60_000, uses: 1 },
  }),
): () => Pick<Table, 'readItems' | 'updateItem'> {
  const item = { SK: 'adminkey', name: 'ci', state: 'active', createdAt: 0, digest: sha256Hex(ADMIN_KEY), ...fields }
  return () => ({
    updateItem,
    readItems: async ([, ...others]) => [item, ...others.map(tenantItemOf)],
  })
}

/** A request of a program with an admin key: no cookie, no origin, no header of the console. */
export function keyEvent(method: string, path: string, members: Partial<ApiEvent> = {}, key = ADMIN_KEY): ApiEvent {
  const nothing = {
    origin: undefined,
    cookie: undefined,
    'x-reelgate-page': undefined,
    'x-reelgate-console': undefined,
  }
  const headers = { ...nothing, host: 'gateway.example.com', authorization: `Bearer ${key}` }
  return adminEvent(method, path, { ...members, headers })
}

function tenantItemOf({ SK }: TableKey): Item {
  return { SK, name: 'Acme', webhookSecret: 'whsec_test', createdAt: 0 }
}

/** Serves every operation of a function alike. */
export function servingAll(serve: AdminOperation, name: AdminFunction = 'write'): readonly ServedOperation[] {
  return ALL_ADMIN_ROUTES.filter((route) => route.function === name).map((route) => ({ ...route, serve }))
}

/** A request of a page of the console on loopback, signed in. Headers that are undefined are left out. */
export function adminEvent(
  method: string,
  path: string,
  {
    headers = {},
    ...members
  }: Partial<Omit<ApiEvent, 'headers'>> & { headers?: Record<string, string | undefined> } = {},
): ApiEvent {
  const sent = {
    host: HOST,
    origin: `http://${HOST}`,
    cookie: `rg_console_8787=${TOKEN}`,
    'x-reelgate-page': 'page',
    'x-reelgate-console': '1',
    ...(members.body ? { 'content-type': 'application/json' } : {}),
    ...headers,
  }
  const query = members.queryStringParameters ?? {}
  return apiEvent({
    httpMethod: method,
    path,
    multiValueQueryStringParameters: Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, [value ?? '']]),
    ),
    ...members,
    headers: Object.fromEntries(
      Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  })
}
