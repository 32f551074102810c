import { describe, expect, it } from 'vitest'
import type { Session } from '#core/console/session.ts'
import { sessionListResponse, sessionResponse } from '#core/console/session-response.ts'
import { sessionRow, sessionView } from '#core/console/session-view.ts'

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

describe('session view', () => {
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
