import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { presignVideoUrl } from '#platform/cdn/presigned-url.ts'
import { createUrlSigner, MissingSigningKeyError, openUrlSigner, openVideoUrlSigner } from '#platform/cdn/video-urls.ts'
import { MissingEnvironmentError } from '#platform/configuration.ts'
import { type Loopback, listenHttp } from '../http/loopback.ts'

describe('openVideoUrlSigner', () => {
  const JOB = { videoKey: 'v/00ff/job.mp4', expiresAt: 1_800_000_000 }

  const before = { ...process.env }
  beforeAll(() => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    Object.assign(process.env, {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:4566',
      BUCKET_NAME: 'videos',
      CDN_BASE_URL: 'https://cdn.example',
      CDN_KEY_PAIR_ID: 'K1',
      CDN_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    })
  })
  afterAll(() => {
    process.env = before
  })

  async function urlBy(delivery: 'bucket' | undefined): Promise<string> {
    delete process.env.VIDEO_DELIVERY
    Object.assign(process.env, delivery === undefined ? {} : { VIDEO_DELIVERY: delivery })
    return (await openVideoUrlSigner(JOB))(JOB)
  }

  it('signs a url of the CDN where VIDEO_DELIVERY is not set', async () => {
    expect(await urlBy(undefined)).toBe((await openUrlSigner())(JOB))
  })

  it('presigns a url of the bucket where VIDEO_DELIVERY is bucket', async () => {
    expect(await urlBy('bucket')).toBe(await presignVideoUrl(JOB))
  })
})

describe('createUrlSigner:', () => {
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

  describe('the key of a deployment, in its secret', () => {
    const NOW = Date.now()
    const DAY = 24 * 3_600_000
    const stored = (keyPairId: string | undefined, ageMilliseconds: number) => ({
      ...(keyPairId === undefined ? {} : { keyPairId }),
      privateKeyPem,
      createdAt: NOW - ageMilliseconds,
    })
    const before = { ...process.env }
    let service: Loopback
    let text: string
    let secretsMade = 0
    beforeAll(async () => {
      service = await listenHttp((_, response) => void response.end(JSON.stringify({ SecretString: text })))
      Object.assign(process.env, {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_ENDPOINT_URL_SECRETS_MANAGER: service.origin,
        CDN_BASE_URL: 'https://cdn.example',
      })
    })
    afterEach(() => {
      jest.restoreAllMocks()
    })
    afterAll(async () => {
      process.env = before
      await service.stop()
    })

    /** Deploys a secret of its own and answers the id of the key that signs. */
    function deploy(secret: object): () => Promise<string | null> {
      text = JSON.stringify(secret)
      secretsMade += 1
      process.env.CDN_SIGNING_KEY_SECRET_ARN = `arn:signing:${secretsMade}`
      return async () => new URL((await openUrlSigner())(JOB)).searchParams.get('Key-Pair-Id')
    }

    it.each([
      ['the one key of a new stack', { keys: [stored('K1', 0)] }, 'K1'],
      ['the old one while its successor is too new', { keys: [stored('K1', DAY), stored('K2', 60_000)] }, 'K1'],
      ['the newest that is old enough', { keys: [stored('K1', DAY), stored('K2', 16 * 60_000)] }, 'K2'],
      ['one that the CDN knows', { keys: [stored('K1', DAY), stored(undefined, DAY / 2)] }, 'K1'],
    ])('is %s', async (_, secret, expected) => {
      expect(await deploy(secret)()).toBe(expected)
    })

    it('changes by itself when the new one is 15 minutes old', async () => {
      const signingKey = deploy({ keys: [stored('K1', DAY), stored('K2', 14 * 60_000)] })
      expect(await signingKey()).toBe('K1')
      jest.spyOn(Date, 'now').mockImplementation(() => NOW + 60_000)
      expect(await signingKey()).toBe('K2')
    })

    it.each([
      ['empty', {}],
      ['without a key that the CDN knows', { keys: [stored(undefined, DAY)] }],
    ])('that is %s is an error, and is found soon after it was filled', async (_, secret) => {
      const signingKey = deploy(secret)
      await expect(signingKey()).rejects.toBeInstanceOf(MissingSigningKeyError)
      text = JSON.stringify({ keys: [stored('K1', 0)] })
      jest.spyOn(Date, 'now').mockImplementation(() => NOW + 30_000)
      expect(await signingKey()).toBe('K1')
    })

    it('that cannot be read is not quoted by the error', async () => {
      const error = await deploy({ keys: [{ privateKeyPem: 'hunter2' }] })().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(Error)
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2')
    })
  })
})
