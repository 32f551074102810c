import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { AwsServiceError } from '#adapters/aws/aws-service-error.ts'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { channelCredential, renewedCredential } from '#adapters/secrets/channel-credential.ts'
import { MissingSecretError, readSecretEntry } from '#adapters/secrets/secret-reader.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { type Loopback, listenHttp } from '../outbound/loopback.ts'

/** As much of Secrets Manager as the reader asks for. Errors come before any answer. */
const secrets = new Map<string, string>()
const errors: { readonly status: number; readonly __type: string }[] = []
const asked: string[] = []
const before = { ...process.env }
let service: Loopback
beforeAll(async () => {
  service = await listenHttp(async (request, response) => {
    const { SecretId } = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8'))
    asked.push(`${request.headers['x-amz-target']} ${SecretId}`)
    const { status, __type } = errors.shift() ?? {
      status: secrets.has(SecretId) ? 200 : 400,
      __type: 'ResourceNotFoundException',
    }
    response
      .writeHead(status)
      .end(JSON.stringify(status === 200 ? { SecretString: secrets.get(SecretId) } : { __type }))
  })
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: service.origin,
  })
})
beforeEach(() => {
  asked.length = 0
  delete process.env.CHANNEL_SECRET_ARN
  delete process.env.MAIN_KEY
})
afterAll(async () => {
  process.env = before
  await service.stop()
})

/** Time passes for the cache, and for nothing else. */
function pass(milliseconds: number): void {
  const now = Date.now() + milliseconds
  jest.spyOn(Date, 'now').mockImplementation(() => now)
}
afterEach(() => {
  jest.restoreAllMocks()
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

/** Every test reads a secret of its own: a warm instance keeps what it read. */
let secretsMade = 0
function newSecret(entries: Readonly<Record<string, string>>): string {
  secretsMade += 1
  const SecretId = `arn:secret:${secretsMade}`
  secrets.set(SecretId, JSON.stringify(entries))
  return SecretId
}

describe('the credential of a channel', () => {
  it('is an environment variable where there is no secret, and a missing one is named', async () => {
    await expect(channelCredential(channel('MAIN_KEY'))).rejects.toBeInstanceOf(MissingEnvironmentError)
    process.env.MAIN_KEY = 'the-key'
    expect(await channelCredential(channel('MAIN_KEY'))).toBe('the-key')
  })

  it('is an entry of the channel secret where there is one, whatever the environment says', async () => {
    process.env.MAIN_KEY = 'another'
    process.env.CHANNEL_SECRET_ARN = newSecret({ MAIN_KEY: 'the-key' })
    expect(await channelCredential(channel('MAIN_KEY'))).toBe('the-key')
  })

  it('of a channel without one needs neither', async () => {
    expect(await channelCredential(channel())).toBe('none')
    expect(asked).toEqual([])
  })
})

describe('a secret', () => {
  it('is read once, however many ask at the same time', async () => {
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

  it('is used on while it cannot be read anew, and asked for again soon', async () => {
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

describe('the key in place of one that an upstream refused', () => {
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

  it('is looked for every ten seconds at most, however many requests are refused', async () => {
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

  it('that another request has read already is used without a read', async () => {
    useSecret('new')
    await channelCredential(channel('MAIN_KEY'))
    expect(await renew('old')).toBe('new')
    expect(asked).toHaveLength(1)
  })

  it('is none when the secret cannot be read, and is looked for as seldom then', async () => {
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

  it('is not waited for without end: a submit has a deadline', async () => {
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
