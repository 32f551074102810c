import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { RouteNotFoundError } from '#core/errors.ts'
import { currentSite, requireFrontDoor } from '#middleware/admin-gate.ts'
import { useSecretsManager } from '../adapters/secrets/fake-secrets-manager.ts'
import { apiEvent } from './api-exchange.ts'

const { newSecret } = useSecretsManager()

const arn = process.env.FRONT_DOOR_SECRET_ARN
beforeEach(() => {
  delete process.env.FRONT_DOOR_SECRET_ARN
})
afterAll(() => {
  process.env.FRONT_DOOR_SECRET_ARN = arn
})

function withSecret(value?: string) {
  return apiEvent(value === undefined ? {} : { headers: { 'X-Reelgate-Front-Door': value } })
}

describe('admin gate', () => {
  it('lets every request through where there is no front door', async () => {
    await expect(requireFrontDoor(withSecret())).resolves.toBeUndefined()
  })

  it('lets only requests with a secret of the front door through', async () => {
    process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'new', previous: 'old' })
    await expect(requireFrontDoor(withSecret('new'))).resolves.toBeUndefined()
    await expect(requireFrontDoor(withSecret('old'))).resolves.toBeUndefined()
    await expect(requireFrontDoor(withSecret('other'))).rejects.toBeInstanceOf(RouteNotFoundError)
    await expect(requireFrontDoor(withSecret())).rejects.toBeInstanceOf(RouteNotFoundError)
  })

  it('reads where the console is from the environment', () => {
    expect(currentSite({ CONSOLE_ORIGIN: 'loopback' })).toEqual({ isLoopback: true, origins: [] })
    expect(currentSite({ CONSOLE_ORIGIN: 'https://a.example' }).origins).toEqual(['https://a.example'])
  })
})
