import { beforeEach, describe, expect, it } from '@jest/globals'
import { AwsServiceError } from '#platform/aws/call-aws-service.ts'
import { MissingEnvironmentError } from '#platform/configuration.ts'
import {
  channelCredential,
  isFrontDoor,
  MissingSecretError,
  readSecretEntry,
  renewedCredential,
  sealingSecrets,
} from '#platform/secrets.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { pass, useSecretsManager } from './fake-secrets-manager.ts'

describe('readSecretEntry: a secret', () => {
  const { secrets, errors, asked, newSecret } = useSecretsManager()

  it('is read once for requests at the same time', async () => {
    const secret = newSecret({ A: '1', B: '2' })
    expect(await Promise.all([readSecretEntry(secret, 'A'), readSecretEntry(secret, 'B')])).toEqual(['1', '2'])
    expect(asked).toEqual([`secretsmanager.GetSecretValue ${secret}`])
  })

  it.each([
    ['an entry that is not there', {}],
    ['an empty entry', { A: '' }],
  ])('with %s is an error that names it and shows nothing', async (_, entries) => {
    const error = await readSecretEntry(newSecret(entries), 'A').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(MissingSecretError)
    expect(String(error)).toContain('A')
  })

  it('that cannot be read is an error of the service, and is asked for again the next time', async () => {
    await expect(readSecretEntry('arn:secret:late', 'A')).rejects.toBeInstanceOf(AwsServiceError)
    secrets.set('arn:secret:late', '{"A":"1"}')
    expect(await readSecretEntry('arn:secret:late', 'A')).toBe('1')
  })

  it.each(['ThrottlingException', 'InternalServiceError'])('is read in spite of one %s', async (__type) => {
    errors.push({ status: __type.startsWith('Internal') ? 500 : 400, __type })
    expect(await readSecretEntry(newSecret({ A: '1' }), 'A')).toBe('1')
    expect(asked).toHaveLength(2)
  })

  it.each(['sk-very-secret', '["sk-very-secret"]', '{"A": {"key": "sk-very-secret"}}'])(
    'that is %s, and no object of strings, is not quoted by the error',
    async (text) => {
      const secret = newSecret({})
      secrets.set(secret, text)
      const error = await readSecretEntry(secret, 'A').catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(MissingSecretError)
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + String(Object(error).cause)).not.toContain(
        'very',
      )
    },
  )

  it('is read again after five minutes, and not before', async () => {
    const secret = newSecret({ A: 'old' })
    await readSecretEntry(secret, 'A')
    secrets.set(secret, '{"A":"new"}')
    pass(4 * 60_000)
    expect(await readSecretEntry(secret, 'A')).toBe('old')
    pass(60_000)
    expect(await readSecretEntry(secret, 'A')).toBe('new')
    expect(asked).toHaveLength(2)
  })

  it('stays in use while it cannot be read again, and is read again soon', async () => {
    const secret = newSecret({ A: 'old' })
    await readSecretEntry(secret, 'A')
    pass(5 * 60_000)
    errors.push({ status: 400, __type: 'AccessDeniedException' })
    expect(await readSecretEntry(secret, 'A')).toBe('old')
    expect(await readSecretEntry(secret, 'A')).toBe('old')
    expect(asked).toHaveLength(2)
    secrets.set(secret, '{"A":"new"}')
    pass(10_000)
    expect(await readSecretEntry(secret, 'A')).toBe('new')
  })

  it('whose entry was missing is read again after ten seconds, so that a filled one works soon', async () => {
    const secret = newSecret({})
    const read = () => readSecretEntry(secret, 'A')
    await expect(read()).rejects.toBeInstanceOf(MissingSecretError)
    secrets.set(secret, '{"A":"1"}')
    await expect(read()).rejects.toBeInstanceOf(MissingSecretError)
    expect(asked).toHaveLength(1)
    pass(10_000)
    expect(await read()).toBe('1')
  })
})

describe('the secret of the front door', () => {
  const { secrets, asked, newSecret } = useSecretsManager()

  it('is the current value, or the one before while it is replaced, and nothing else', async () => {
    const secret = newSecret({ current: 'new', previous: 'old' })
    expect(await isFrontDoor(secret, 'new')).toBe(true)
    expect(await isFrontDoor(secret, 'old')).toBe(true)
    expect(await isFrontDoor(secret, 'other')).toBe(false)
    process.env.FRONT_DOOR_SECRET_ARN = secret
    expect(await sealingSecrets()).toEqual(['new', 'old'])
    delete process.env.FRONT_DOOR_SECRET_ARN
  })

  it('is never an empty value', async () => {
    const secret = newSecret({ current: 'new', previous: '' })
    expect(await isFrontDoor(secret, '')).toBe(false)
    expect(await isFrontDoor(secret, undefined)).toBe(false)
    process.env.FRONT_DOOR_SECRET_ARN = secret
    expect(await sealingSecrets()).toEqual(['new'])
    delete process.env.FRONT_DOOR_SECRET_ARN
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

describe('channelCredential:', () => {
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

  describe('the key of a channel', () => {
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

  describe('the key that replaces a refused one', () => {
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
      expect(await Promise.all([renew('dead'), renew('dead'), renew('dead')])).toEqual([
        undefined,
        undefined,
        undefined,
      ])
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
})
