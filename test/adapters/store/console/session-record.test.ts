import { describe, expect, it } from 'vitest'
import { readSessionRecord, sessionItemOf } from '#adapters/store/console/session-record.ts'

const STORED = {
  session: {
    id: 'sessionsession16',
    kind: 'oidc',
    actor: 'ada',
    role: 'owner',
    tenant: null,
    keyId: null,
    holder: 'oidc:ada',
    createdAt: 1,
    seenAt: 2,
    expiresAt: 3_001,
  },
  digest: 'd',
  pageDigest: undefined,
} as const

describe('the item of a session', () => {
  it('is read as it was written, and is deleted by the table after its end', () => {
    const item = sessionItemOf(STORED)
    expect(item).toMatchObject({ PK: 'SESSIONS', SK: 'sessionsession16', ttl: 4 })
    expect(readSessionRecord(item)).toEqual(STORED)
  })

  it.each([{ role: 'root' }, { digest: undefined }, { expiresAt: 'never' }])('with %j is refused', (fields) => {
    expect(() => readSessionRecord({ ...sessionItemOf(STORED), ...fields })).toThrow()
  })
})
