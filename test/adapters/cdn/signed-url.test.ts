import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { createUrlSigner, openUrlSigner } from '#adapters/cdn/signed-url.ts'
import { MissingEnvironmentError } from '#adapters/environment.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const JOB = { videoKey: 'v/00ff/job.mp4', expiresAt: 1_800_000_000 }

describe('the signed url of a video', () => {
  const url = new URL(createUrlSigner({ baseUrl: 'https://cdn.example', keyPairId: 'K1', privateKeyPem })(JOB))

  it('names the object, the key and the second in which the job expires', () => {
    expect(url.origin + url.pathname).toBe('https://cdn.example/v/00ff/job.mp4')
    expect(url.searchParams.get('Key-Pair-Id')).toBe('K1')
    expect(url.searchParams.get('Expires')).toBe('1800000000')
  })

  it('signs exactly the object and its end, with RSA over SHA-1 as the CDN checks it', () => {
    const policy = `{"Statement":[{"Resource":"https://cdn.example/v/00ff/job.mp4","Condition":{"DateLessThan":{"AWS:EpochTime":1800000000}}}]}`
    const signature = url.searchParams.get('Signature') ?? ''
    const bytes = Buffer.from(signature.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64')
    expect(createVerify('RSA-SHA1').update(policy).verify(createPublicKey(privateKeyPem), bytes)).toBe(true)
  })

  it('ends at another second for a job that expires at another second', () => {
    const signUrl = createUrlSigner({ baseUrl: 'https://cdn.example', keyPairId: 'K1', privateKeyPem })
    const urls = [JOB, { ...JOB, expiresAt: JOB.expiresAt + 1 }].map((job) => new URL(signUrl(job)))
    expect(urls.map(({ searchParams }) => searchParams.get('Expires'))).toEqual(['1800000000', '1800000001'])
    expect(new Set(urls.map(({ searchParams }) => searchParams.get('Signature'))).size).toBe(2)
  })

  it('comes from the settings of the deployment, and a missing one is named', async () => {
    Object.assign(process.env, {
      CDN_BASE_URL: 'https://cdn.example',
      CDN_KEY_PAIR_ID: 'K1',
      CDN_SIGNING_KEY: privateKeyPem,
    })
    expect((await openUrlSigner())(JOB)).toBe(url.href)
    process.env.CDN_KEY_PAIR_ID = 'K2'
    expect(new URL((await openUrlSigner())(JOB)).searchParams.get('Key-Pair-Id')).toBe('K2')
    const rotated = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    process.env.CDN_SIGNING_KEY = rotated.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect((await openUrlSigner())(JOB)).not.toContain(url.searchParams.get('Signature'))
    delete process.env.CDN_KEY_PAIR_ID
    await expect(openUrlSigner()).rejects.toBeInstanceOf(MissingEnvironmentError)
  })
})
