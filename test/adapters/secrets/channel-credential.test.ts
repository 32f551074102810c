import { beforeEach, describe, expect, it } from 'vitest'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { channelCredential, renewedCredential } from '#adapters/secrets/channel-credential.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { pass, useSecretsManager } from './fake-secrets-manager.ts'

const { secrets, errors, asked, newSecret } = useSecretsManager()
beforeEach(() => {
  delete process.env.CHANNEL_SECRET_ARN
  delete process.env.MAIN_KEY
})

/** A channel whose key has this name in the environment or the secret. */
function channel(name?: string) {
  const main = name === undefined ? {} : { api_key: `\${${name}}` }
  const found = testCatalogue({}, { main }).findVideoChannel('main')
  if (found === undefined) {
    throw new Error('no channel')
  }
  return found
}

describe('channel-credential: the key of a channel', () => {
  it('is an environment variable where there is no secret, and a missing one is named', async () => {
    await expect(channelCredential(channel('MAIN_KEY'))).rejects.toBeInstanceOf(MissingEnvironmentError)
    process.env.MAIN_KEY = 'the-key'
    expect(await channelCredential(channel('MAIN_KEY'))).toBe('the-key')
  })

  it('is an entry of the channel secret where there is one, and not the variable of that name', async () => {
    process.env.MAIN_KEY = 'another'
    process.env.CHANNEL_SECRET_ARN = newSecret({ MAIN_KEY: 'the-key' })
    expect(await channelCredential(channel('MAIN_KEY'))).toBe('the-key')
  })

  it('of a channel without one needs neither', async () => {
    expect(await channelCredential(channel())).toBe('none')
    expect(asked).toEqual([])
  })
})

describe('channel-credential: the key that replaces a refused one', () => {
  const renew = (refused: string, millisecondsMax?: number) =>
    renewedCredential(channel('MAIN_KEY'), refused, millisecondsMax)
  function useSecret(key: string): string {
    const secret = newSecret({ MAIN_KEY: key })
    process.env.CHANNEL_SECRET_ARN = secret
    return secret
  }

  it('is read from the secret, although the cached one is fresh', async () => {
    const secret = useSecret('old')
    expect(await channelCredential(channel('MAIN_KEY'))).toBe('old')
    secrets.set(secret, '{"MAIN_KEY":"new"}')
    pass(10_000)
    expect(await renew('old')).toBe('new')
    expect(await channelCredential(channel('MAIN_KEY'))).toBe('new')
    expect(asked).toHaveLength(2)
  })

  it('is looked for at most every ten seconds', async () => {
    useSecret('dead')
    await channelCredential(channel('MAIN_KEY'))
    pass(10_000)
    expect(await Promise.all([renew('dead'), renew('dead'), renew('dead')])).toEqual([undefined, undefined, undefined])
    pass(9_999)
    expect(await renew('dead')).toBeUndefined()
    expect(asked).toHaveLength(2)
    pass(1)
    expect(await renew('dead')).toBeUndefined()
    expect(asked).toHaveLength(3)
  })

  it('is used without a read when another request has read it', async () => {
    useSecret('new')
    await channelCredential(channel('MAIN_KEY'))
    expect(await renew('old')).toBe('new')
    expect(asked).toHaveLength(1)
  })

  it('is none when the secret cannot be read, and is then looked for as rarely', async () => {
    useSecret('dead')
    await channelCredential(channel('MAIN_KEY'))
    pass(10_000)
    errors.push({ status: 400, __type: 'AccessDeniedException' })
    expect(await renew('dead')).toBeUndefined()
    expect(await renew('dead')).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  it('is none when its entry was removed, and where keys come from the environment', async () => {
    const secret = useSecret('dead')
    await channelCredential(channel('MAIN_KEY'))
    secrets.set(secret, '{}')
    pass(10_000)
    expect(await renew('dead')).toBeUndefined()
    delete process.env.CHANNEL_SECRET_ARN
    process.env.MAIN_KEY = 'other'
    expect(await renew('dead')).toBeUndefined()
  })

  it('is waited for no longer than the caller says', async () => {
    const secret = useSecret('dead')
    await channelCredential(channel('MAIN_KEY'))
    secrets.set(secret, '{"MAIN_KEY":"new"}')
    pass(10_000)
    const throttled = { status: 400, __type: 'ThrottlingException' }
    errors.push(throttled, throttled, throttled, throttled)
    expect(await renew('dead', 5)).toBeUndefined()
    errors.length = 0
  })
})
