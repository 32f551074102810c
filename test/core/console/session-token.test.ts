import { describe, expect, it } from 'vitest'
import { formatSessionToken, isSessionId, readSessionToken, type TokenParts } from '#core/console/session-token.ts'

const SESSION_ID = '0123456789abcDEF'
const SECRET = 'A-_'.repeat(14).padEnd(43, 'x')

describe('a session token', () => {
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
