import {
  InvalidParameterException,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { readSecretVersion, replaceSecret, SecretChangedError } from '#platform/replace-secret.ts'
import { FakeSecret } from '../cdn-signing-key/key-services.ts'

const client = new SecretsManagerClient({})
let secret: FakeSecret
beforeEach(() => {
  secret = new FakeSecret()
})
const read = () => readSecretVersion(client, 'arn')
const replace = (from: Awaited<ReturnType<typeof read>>, text: string) =>
  replaceSecret(client, { secretId: 'arn', read: from, text })

describe('replaceSecret: a secret', () => {
  it('is replaced when it is still what was read, again and again', async () => {
    const second = await replace(await read(), '{"A":"1"}')
    expect(secret.text).toBe('{"A":"1"}')
    await replace(second, '{"A":"2"}')
    expect(secret.text).toBe('{"A":"2"}')
  })

  it('that somebody else changed since it was read keeps their value', async () => {
    const mine = await read()
    await replace(await read(), '{"theirs":"1"}')
    await expect(replace(mine, '{"mine":"1"}')).rejects.toBeInstanceOf(SecretChangedError)
    expect(secret.text).toBe('{"theirs":"1"}')
  })

  it('that somebody else changes in the last moment keeps their value too', async () => {
    const mine = await read()
    secret.beforeMove = () => {
      secret.text = '{"theirs":"1"}'
    }
    await expect(replace(mine, '{"mine":"1"}')).rejects.toBeInstanceOf(SecretChangedError)
    expect(secret.text).toBe('{"theirs":"1"}')
  })

  it('counts as replaced when only the reply to the change was lost', async () => {
    const stub = mockClient(SecretsManagerClient)
    let versionId: string | undefined = 'first'
    stub.onAnyCommand().callsFake(() => ({ SecretString: '{}', VersionId: versionId }))
    stub.on(PutSecretValueCommand).resolves({})
    stub.on(UpdateSecretVersionStageCommand).callsFake(({ MoveToVersionId }) => {
      versionId = MoveToVersionId
      throw new InvalidParameterException({ message: 'the label is on another version', $metadata: {} })
    })
    await expect(replace(await read(), '{"A":"1"}')).resolves.toMatchObject({ text: '{"A":"1"}' })
  })
})
