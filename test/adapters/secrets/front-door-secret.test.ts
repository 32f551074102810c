import { describe, expect, it } from 'vitest'
import { frontDoorValues, isFrontDoor } from '#adapters/secrets/front-door-secret.ts'
import { pass, useSecretsManager } from './fake-secrets-manager.ts'

const { secrets, asked, newSecret } = useSecretsManager()

describe('the secret of the front door', () => {
  it('is the current value, or the one before while it is replaced, and nothing else', async () => {
    const secret = newSecret({ current: 'new', previous: 'old' })
    expect(await isFrontDoor(secret, 'new')).toBe(true)
    expect(await isFrontDoor(secret, 'old')).toBe(true)
    expect(await isFrontDoor(secret, 'other')).toBe(false)
    expect(await frontDoorValues(secret)).toEqual(['new', 'old'])
  })

  it('is never an empty value', async () => {
    const secret = newSecret({ current: 'new', previous: '' })
    expect(await isFrontDoor(secret, '')).toBe(false)
    expect(await isFrontDoor(secret, undefined)).toBe(false)
    expect(await frontDoorValues(secret)).toEqual(['new'])
  })

  it('is read once for good requests, and again for a value that may be newer, at most every ten seconds', async () => {
    const secret = newSecret({ current: 'one' })
    await isFrontDoor(secret, 'one')
    await isFrontDoor(secret, 'one')
    expect(asked).toHaveLength(1)
    secrets.set(secret, JSON.stringify({ current: 'two', previous: 'one' }))
    expect(await isFrontDoor(secret, 'two')).toBe(false)
    pass(10_001)
    expect(await isFrontDoor(secret, 'two')).toBe(true)
    expect(await isFrontDoor(secret, 'three')).toBe(false)
    expect(asked).toHaveLength(2)
  })
})
