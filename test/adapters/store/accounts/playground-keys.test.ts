import { describe, expect, it } from 'vitest'
import {
  endPlaygroundKeys,
  hasNoNewPlaygroundKey,
  readPlaygroundKeys,
} from '#adapters/store/accounts/playground-keys.ts'

const KEYS = [
  { digest: 'one', sessionId: 's', expiresAt: 10 },
  { digest: 'two', sessionId: 's', expiresAt: 20 },
]

describe('playground-keys', () => {
  it('reads a parent that never made a key as one without keys', () => {
    expect(readPlaygroundKeys({ PK: 'KEYS' })).toEqual({ keys: [], revision: undefined })
    expect(readPlaygroundKeys({ playgroundKeys: KEYS, playgroundRevision: 2 })).toEqual({ keys: KEYS, revision: 2 })
  })

  it('ends live keys alone: an expired one may be gone from the table', () => {
    const writes = Object.values(endPlaygroundKeys(KEYS, 10_000))
    expect(writes).toMatchObject([{ Update: { Key: { PK: 'K#two' } } }])
  })

  it('proves that no key was made since the parent was read', () => {
    expect(hasNoNewPlaygroundKey({ keys: [], revision: undefined }).condition).toBe(
      'attribute_not_exists(playgroundRevision)',
    )
    expect(hasNoNewPlaygroundKey({ keys: [], revision: 3 }).values).toEqual({ ':playgroundRevision': 3 })
  })
})
