import { describe, expect, it } from '@jest/globals'
import {
  formatSessionToken,
  isDueToBeSeen,
  isSessionId,
  readSessionToken,
  type Session,
  sessionRow,
  sessionView,
  type TokenParts,
  visibleHolder,
} from '#core/admin/session.ts'
import { sessionListResponse, sessionResponse } from '#core/admin/write-responses.ts'
import { type Access, mayAccess, type Role, SERVED_ROLES } from '#core/roles.ts'

const ALL = Object.keys(SERVED_ROLES) as (keyof typeof SERVED_ROLES)[]

describe('session', () => {
  it.each<[Role, readonly Access[]]>([
    ['tenant', ['public', 'everyone', 'tenant', 'playground']],
    ['tenant-viewer', ['public', 'everyone', 'tenant', 'tenant-viewer']],
    ['tenant-admin', ['public', 'everyone', 'tenant', 'tenant-viewer', 'tenant-admin', 'playground']],
    ['finance', ['public', 'finance', 'everyone']],
    ['viewer', ['public', 'viewer', 'finance', 'everyone', 'tenant', 'tenant-viewer']],
    ['owner', ['public', ...ALL]],
  ])('with the role %s may do %j and nothing else', (role, allowed) => {
    const all: readonly Access[] = ['public', ...ALL]
    expect(all.filter((access) => mayAccess(role, access))).toEqual(allowed)
  })

  it('is due to be seen after five minutes', () => {
    expect(isDueToBeSeen({ seenAt: 1_000 }, 300_999)).toBe(false)
    expect(isDueToBeSeen({ seenAt: 1_000 }, 301_000)).toBe(true)
  })

  it('of an owner shows the sessions of everybody, and of others their own alone', () => {
    expect(visibleHolder({ role: 'owner', holder: 'a' })).toBeUndefined()
    expect(visibleHolder({ role: 'viewer', holder: 'a' })).toBe('a')
    expect(visibleHolder({ role: 'tenant', holder: 'a' })).toBe('a')
  })
})

const SESSION_ID = '0123456789abcDEF'
const SECRET = 'A-_'.repeat(14).padEnd(43, 'x')

describe('readSessionToken', () => {
  it.each<TokenParts>([
    { sessionId: SESSION_ID, key: undefined },
    { sessionId: SESSION_ID, key: { kind: 'admin_key', keyId: '8fK2mQ0z' } },
    { sessionId: SESSION_ID, key: { kind: 'api_key', keyId: 'a1b2c3d4' } },
  ])('is read as it was made: %j', (parts) => {
    expect(readSessionToken(formatSessionToken(parts, SECRET))).toEqual(parts)
  })

  it.each([
    '',
    SECRET,
    `${SESSION_ID}.n.`,
    `${SESSION_ID}.n.${SECRET}x`,
    `${SESSION_ID}.x8fK2mQ0z.${SECRET}`,
    `${SESSION_ID}.a.${SECRET}`,
    `${SESSION_ID}.a8fK2#Q0z.${SECRET}`,
    `short.n.${SECRET}`,
    ` ${SESSION_ID}.n.${SECRET}`,
    `${SESSION_ID}.n.${SECRET}\n`,
  ])('is not %j', (token) => {
    expect(readSessionToken(token)).toBeUndefined()
  })
})

describe('isSessionId', () => {
  it('knows the form of an id', () => {
    expect(isSessionId(SESSION_ID)).toBe(true)
    for (const other of ['', `${SESSION_ID}x`, `${SESSION_ID}\n`, '0123456789abcde#']) {
      expect(isSessionId(other)).toBe(false)
    }
  })
})

const SESSION: Session = {
  id: 'a',
  kind: 'api_key',
  actor: 'key 8fK2mQ0z',
  role: 'tenant',
  tenant: { id: 'acme', name: 'Acme' },
  keyId: '8fK2mQ0z',
  holder: 'api_key:8fK2mQ0z',
  createdAt: 1_800_000_000_999,
  seenAt: 1_800_000_300_000,
  expiresAt: 1_800_043_200_000,
}

describe('sessionView', () => {
  it('has the fields of the contract in unix seconds, and the secret of the page at a sign-in alone', () => {
    expect(sessionResponse.parse(sessionView(SESSION))).not.toHaveProperty('page_secret')
    expect(sessionResponse.parse(sessionView(SESSION, 'x'))).toMatchObject({
      page_secret: 'x',
      created_at: 1_800_000_000,
    })
  })

  it('says in a list which session is that of the request', () => {
    const data = [sessionRow(SESSION, 'a'), sessionRow(SESSION, 'b')]
    const list = { object: 'list', data, has_more: false, next: null, as_of: 1 }
    expect(sessionListResponse.parse(list).data.map(({ current }) => current)).toEqual([true, false])
  })
})
