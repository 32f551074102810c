import { afterEach, describe, expect, it } from '@jest/globals'
import { defaultProvider, MissingCredentialsError } from '#aws/environment-credentials.ts'

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
  it('gives the credentials of the role with their session token', async () => {
    setCredentials('AKIDFIRST', 'token')
    await expect(defaultProvider()()).resolves.toEqual({
      accessKeyId: 'AKIDFIRST',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    })
  })

  it('reads them anew for every request, so that none outlives its end', async () => {
    const provide = defaultProvider()
    setCredentials('AKIDFIRST', 'first')
    await provide()
    setCredentials('AKIDSECOND', 'second')
    await expect(provide()).resolves.toMatchObject({ accessKeyId: 'AKIDSECOND', sessionToken: 'second' })
  })

  it('leaves the token out where there is none', async () => {
    setCredentials('AKIDFIRST', '')
    await expect(defaultProvider()()).resolves.toEqual({ accessKeyId: 'AKIDFIRST', secretAccessKey: 'secret' })
  })

  it('names what is missing', async () => {
    setCredentials('', '')
    await expect(defaultProvider()()).rejects.toThrow(MissingCredentialsError)
  })
})
