import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { presignVideoUrl } from '#adapters/cdn/presigned-url.ts'
import { openUrlSigner } from '#adapters/cdn/signed-url.ts'
import { UnknownVideoDeliveryError } from '#adapters/cdn/video-delivery.ts'
import { openVideoUrlSigner } from '#adapters/cdn/video-url-signer.ts'

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

async function urlBy(delivery: string | undefined): Promise<string> {
  delete process.env.VIDEO_DELIVERY
  Object.assign(process.env, delivery === undefined ? {} : { VIDEO_DELIVERY: delivery })
  return (await openVideoUrlSigner(JOB))(JOB)
}

describe('video-url-signer', () => {
  it.each([undefined, 'cdn'])('signs a url of the CDN where VIDEO_DELIVERY is %s', async (delivery) => {
    expect(await urlBy(delivery)).toBe((await openUrlSigner())(JOB))
  })

  it('presigns a url of the bucket where VIDEO_DELIVERY is bucket', async () => {
    expect(await urlBy('bucket')).toBe(await presignVideoUrl(JOB))
  })

  it('refuses any other value of VIDEO_DELIVERY', async () => {
    await expect(urlBy('bukket')).rejects.toBeInstanceOf(UnknownVideoDeliveryError)
  })
})
