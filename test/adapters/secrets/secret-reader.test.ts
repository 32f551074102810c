import { describe, expect, it } from 'vitest'
import { AwsServiceError } from '#adapters/aws/aws-service-error.ts'
import { MissingSecretError, readSecretEntry } from '#adapters/secrets/secret-reader.ts'
import { pass, useSecretsManager } from './fake-secrets-manager.ts'

const { secrets, errors, asked, newSecret } = useSecretsManager()

describe('secret-reader: a secret', () => {
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
