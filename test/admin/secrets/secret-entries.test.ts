import { beforeEach, describe, expect, it } from 'vitest'
import { changeSecretEntries, parseSecretEntries } from '../../../lib/cli/admin/secrets.ts'
import { FakeSecret } from '../../cdn-signing-key/key-services.ts'

describe('parseSecretEntries', () => {
  it('reads keys by their names', () => {
    expect(parseSecretEntries('{"MAIN_KEY":"sk-1"}')).toEqual({ MAIN_KEY: 'sk-1' })
  })

  it.each(['sk-1', '["sk-1"]', '{"MAIN_KEY":{"key":"sk-1"}}', ''])('is undefined for %j', (content) => {
    expect(parseSecretEntries(content)).toBeUndefined()
  })
})

describe('changeSecretEntries', () => {
  let secret: FakeSecret
  beforeEach(() => {
    secret = new FakeSecret()
  })
  const change = () =>
    changeSecretEntries({ arn: 'arn:secret', name: 'secret' }, (entries) => ({ ...entries, MINE: '1' }))

  it('builds on what another process has written meanwhile', async () => {
    secret.beforeMove = () => {
      secret.beforeMove = () => undefined
      secret.text = '{"THEIRS":"1"}'
    }
    expect(await change()).toMatchObject({ before: { THEIRS: '1' }, versionId: expect.any(String) })
    expect(JSON.parse(secret.text)).toEqual({ THEIRS: '1', MINE: '1' })
  })

  it('gives up while others keep changing the secret, and overwrites nothing', async () => {
    let changes = 0
    secret.beforeMove = () => {
      changes += 1
      secret.text = `{"THEIRS":"${changes}"}`
    }
    await expect(change()).rejects.toThrow('another process keeps changing the secret')
    expect(JSON.parse(secret.text)).toEqual({ THEIRS: '5' })
  })

  it('leaves a secret of another form alone, and does not quote it', async () => {
    secret.text = 'sk-very-secret'
    const message = await change().catch(String)
    expect(message).toContain('the secret is not a JSON object of strings')
    expect(message).not.toContain('very-secret')
    expect(secret.text).toBe('sk-very-secret')
  })
})
