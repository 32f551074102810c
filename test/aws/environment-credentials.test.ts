import { afterEach, describe, expect, it } from 'vitest'
import { defaultProvider, MissingCredentialsError } from '#stack/environment-credentials.ts'

const before = { ...process.env }

afterEach(() => {
  process.env = { ...before }
})

function setCredentials(accessKeyId: string, sessionToken: string): void {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: sessionToken,
  })
}

describe('defaultProvider', () => {
  it('returns the credentials of the role with their session token', async () => {
    setCredentials('AKIDFIRST', 'token')
    await expect(defaultProvider()()).resolves.toEqual({
      accessKeyId: 'AKIDFIRST',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    })
  })

  it('reads the environment for every request, so that credentials do not expire', async () => {
    const provide = defaultProvider()
    setCredentials('AKIDFIRST', 'first')
    await provide()
    setCredentials('AKIDSECOND', 'second')
    await expect(provide()).resolves.toMatchObject({ accessKeyId: 'AKIDSECOND', sessionToken: 'second' })
  })

  it('omits a missing session token', async () => {
    setCredentials('AKIDFIRST', '')
    await expect(defaultProvider()()).resolves.toEqual({ accessKeyId: 'AKIDFIRST', secretAccessKey: 'secret' })
  })

  it('names the missing variables', async () => {
    setCredentials('', '')
    await expect(defaultProvider()()).rejects.toThrow(MissingCredentialsError)
  })
})
