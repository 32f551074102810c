import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { channelCredential } from '#adapters/secrets/channel-credential.ts'
import { MissingSecretError, readSecretEntry } from '#adapters/secrets/secret-reader.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const secrets = mockClient(SecretsManagerClient)
beforeEach(() => {
  secrets.reset()
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

/** Every test reads a secret of its own: a warm instance keeps what it read. */
let secretsMade = 0
function newSecret(entries: Readonly<Record<string, string>>): string {
  secretsMade += 1
  const SecretId = `arn:secret:${secretsMade}`
  secrets.on(GetSecretValueCommand, { SecretId }).resolves({ SecretString: JSON.stringify(entries) })
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
    expect(secrets.calls()).toEqual([])
  })
})

describe('a secret', () => {
  it('is read once, however many ask at the same time', async () => {
    const secret = newSecret({ A: '1', B: '2' })
    expect(await Promise.all([readSecretEntry(secret, 'A'), readSecretEntry(secret, 'B')])).toEqual(['1', '2'])
    expect(secrets.calls()).toHaveLength(1)
  })

  it.each([
    ['an entry that is not there', {}],
    ['an empty entry', { A: '' }],
  ])('with %s is an error that names it and shows nothing', async (_, entries) => {
    const error = await readSecretEntry(newSecret(entries), 'A').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(MissingSecretError)
    expect(String(error)).toContain('A')
  })

  it('that could not be read is asked for again', async () => {
    secrets.on(GetSecretValueCommand).rejectsOnce(new Error('not now')).resolves({ SecretString: '{"A":"1"}' })
    await expect(readSecretEntry('arn:secret:late', 'A')).rejects.toThrow('not now')
    expect(await readSecretEntry('arn:secret:late', 'A')).toBe('1')
  })
})
