import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { AwsServiceError } from '#adapters/aws-json/aws-service-error.ts'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { channelCredential } from '#adapters/secrets/channel-credential.ts'
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
})
