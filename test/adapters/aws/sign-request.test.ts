import { DynamoDBClient, GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type AwsCredentials, type SigningScope, signRequest } from '#adapters/aws/sign-request.ts'

/** Of AWS's own test suite for Signature Version 4, which publishes these credentials. */
const SUITE: SigningScope = {
  service: 'service',
  region: 'us-east-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  nowMilliseconds: Date.UTC(2015, 7, 30, 12, 36, 0),
}

const host = 'example.amazonaws.com'
const form = 'application/x-www-form-urlencoded'
const SUITE_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

const signatureOf = (headers: Readonly<Record<string, string>>) =>
  /Signature=(\w+)$/.exec(headers.authorization ?? '')?.[1]

describe('a signature', () => {
  it.each([
    ['post-vanilla', { host }, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-header-key-sort',
      { host, 'my-header1': 'value1' },
      '',
      'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
    ],
    [
      'post-header-value-case',
      { host, 'my-header1': 'VALUE1' },
      '',
      'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
    ],
    [
      'post-x-www-form-urlencoded',
      { host, 'content-type': form },
      'Param1=value1',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('is the published one of %s', (_, headers, body, signature) => {
    expect(signatureOf(signRequest({ headers, body }, SUITE))).toBe(signature)
  })

  it('is the published one of post-sts-header-before: a session token is signed with the rest', () => {
    const scope = { ...SUITE, credentials: { ...SUITE.credentials, sessionToken: SUITE_TOKEN } }
    const signed = signRequest({ headers: { host }, body: '' }, scope)
    expect(signed['x-amz-security-token']).toBe(SUITE_TOKEN)
    expect(signatureOf(signed)).toBe('85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead')
  })

  it('is not changed by other regions, services and credentials in between', () => {
    const sign = (scope: Partial<SigningScope>) =>
      signatureOf(signRequest({ headers: { host }, body: '' }, { ...SUITE, ...scope }))
    const other: AwsCredentials = { ...SUITE.credentials, secretAccessKey: 'another' }
    const scopes = [{}, { region: 'eu-west-1' }, { service: 'dynamodb' }, { credentials: other }]
    const first = scopes.map(sign)
    expect(new Set(first).size).toBe(scopes.length)
    expect(scopes.map(sign)).toEqual(first)
  })
})

type Sent = { readonly headers: Record<string, string>; readonly body: string | Uint8Array }

/** Stops a request of the SDK on its way out. */
function capture() {
  const sent: Sent[] = []
  const requestHandler = {
    handle: async ({ headers, body }: Sent) => {
      sent.push({ headers, body })
      throw Object.assign(new Error('captured'), { name: 'Captured' })
    },
  }
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token+/=' }
  return { sent, credentials, options: { region: 'eu-central-1', credentials, requestHandler, maxAttempts: 1 } }
}

describe('a signature of the SDK', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([
    [
      'a transaction',
      'dynamodb',
      (options: object) =>
        new DynamoDBClient(options).send(
          new TransactWriteItemsCommand({
            TransactItems: [{ Put: { TableName: 'table', Item: { PK: { S: 'ä 漢 "quoted"' } } } }],
          }),
        ),
    ],
    [
      'a read',
      'dynamodb',
      (options: object) =>
        new DynamoDBClient(options).send(new GetItemCommand({ TableName: 'table', Key: { PK: { S: 'a' } } })),
    ],
    [
      'a secret',
      'secretsmanager',
      (options: object) => new SecretsManagerClient(options).send(new GetSecretValueCommand({ SecretId: 'arn' })),
    ],
  ])('for %s is ours for the same headers, body and time, today and tomorrow', async (_, service, send) => {
    const { sent, credentials, options } = capture()
    await expect(send(options)).rejects.toThrow('captured')
    vi.useFakeTimers({ now: Date.now() + 86_400_000, toNotFake: ['nextTick', 'setImmediate', 'setTimeout'] })
    await expect(send(options)).rejects.toThrow('captured')
    const dates = sent.map(({ headers }) => lowerCased(headers)['x-amz-date']?.slice(0, 8))
    expect(new Set(dates).size).toBe(2)
    for (const request of sent) {
      expect(ourAuthorization(request, { service, region: options.region, credentials })).toBe(
        lowerCased(request.headers).authorization,
      )
    }
  })
})

/** What we say for a request of the SDK's, over the headers that it has signed. */
function ourAuthorization({ headers, body }: Sent, scope: Omit<SigningScope, 'nowMilliseconds'>): string | undefined {
  const { authorization = '', 'x-amz-date': date = '', ...others } = lowerCased(headers)
  const signedNames = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
  const names = signedNames.filter((name) => !/^x-amz-(date|security-token)$/.test(name))
  const unsigned = Object.fromEntries(names.map((name) => [name, others[name] ?? '']))
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  return signRequest({ headers: unsigned, body: text }, { ...scope, nowMilliseconds: parseTime(date) }).authorization
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** `20150830T123600Z` */
function parseTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}
