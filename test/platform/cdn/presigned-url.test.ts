import { createHash, createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { JOB_LIFETIME_SECONDS } from '#core/jobs/video-job.ts'
import { presignVideoUrl } from '#platform/cdn/presigned-url.ts'

const SECRET = 'secret'
const JOB = { videoKey: 'v/00ff/job.mp4', expiresAt: 1_800_000_000 }

beforeAll(() => {
  for (const name of Object.keys(process.env).filter((each) => each.startsWith('AWS_'))) {
    delete process.env[name]
  }
  Object.assign(process.env, {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:4566',
    BUCKET_NAME: 'videos',
  })
})

/** The signature of a presigned GET (S3 API reference, "Authenticating requests: using query parameters"). */
function signatureOf(url: URL): string {
  const query = [...url.searchParams].filter(([name]) => name !== 'X-Amz-Signature')
  const canonicalQuery = query
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&')
  const canonical = `GET\n${url.pathname}\n${canonicalQuery}\nhost:${url.host}\n\nhost\nUNSIGNED-PAYLOAD`
  const time = url.searchParams.get('X-Amz-Date') ?? ''
  const scope = `${time.slice(0, 8)}/eu-central-1/s3/aws4_request`
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
  const sign = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  return sign(scope.split('/').reduce(sign, Buffer.from(`AWS4${SECRET}`)), toSign).toString('hex')
}

describe('presignVideoUrl: the url of a video', () => {
  it('names the object in the path where the endpoint is an address, and carries the signature that S3 computes', async () => {
    const url = new URL(await presignVideoUrl(JOB))
    expect(url.origin + url.pathname).toBe('http://127.0.0.1:4566/videos/v/00ff/job.mp4')
    expect(url.searchParams.get('X-Amz-Signature')).toBe(signatureOf(url))
  })

  it('ends in the second in which the job expires, and lives no longer than S3 allows', async () => {
    const { searchParams } = new URL(await presignVideoUrl(JOB))
    const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(searchParams.get('X-Amz-Date') ?? '') ?? []
    const signedAt = Date.parse(
      `${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`,
    )
    const lifetime = Number(searchParams.get('X-Amz-Expires'))
    expect(signedAt / 1000 + lifetime).toBe(JOB.expiresAt)
    expect(lifetime).toBeLessThanOrEqual(604_800)
  })

  it('is dated when the job was made, so that it is valid at once', () => {
    expect(JOB_LIFETIME_SECONDS).toBe(604_800)
  })

  it('is the same each time', async () => {
    expect(await presignVideoUrl(JOB)).toBe(await presignVideoUrl(JOB))
  })
})
