import { randomUUID } from 'node:crypto'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { describe, expect, it } from 'vitest'
import type { EngineCredentials } from '#local/engine-credentials.ts'
import { startS3Engine } from '#local/s3-engine.ts'
import { startTestBucket } from '../engines/start-test-bucket.ts'
import { useOpened } from '../engines/use-opened.ts'

const engine = useOpened(startTestBucket)

const put = (Key: string, Body: string, IfNoneMatch?: '*') =>
  engine.bucket.client.send(new PutObjectCommand({ Bucket: engine.bucket.name, Key, Body, IfNoneMatch }))

describe('the engine', () => {
  it.each(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'])('is the one that %s names, where it is set', async (name) => {
    const place = { directory: '/nowhere', bucketName: 'any', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }
    const other = await startS3Engine(place, { [name]: 'http://127.0.0.1:9' })
    expect(other.endpoint).toBe('http://127.0.0.1:9')
    await other.close()
  })
})

describe('the port of the engine', () => {
  const LIST = '/reelgate-videos?list-type=2'
  const connect = (credentials: EngineCredentials) =>
    new S3Client({ endpoint: engine.endpoint, region: 'us-east-1', forcePathStyle: true, credentials, maxAttempts: 1 })
  const anyObject = { Bucket: 'reelgate-videos', Key: `v/a b+c(d)/${randomUUID()}.mp4` }

  it('answers what is signed with the secret of this start, header or presigned url, whatever the key is called', async () => {
    await engine.bucket.client.send(new PutObjectCommand({ ...anyObject, Body: 'a video' }))
    expect((await engine.bytes(anyObject.Key)).toString()).toBe('a video')
    expect(await engine.keys('v/a b+c(d)/')).toEqual([anyObject.Key])
    const ResponseContentType = 'video/mp4; codecs="avc1, mp4a"'
    const url = await getSignedUrl(engine.bucket.client, new GetObjectCommand({ ...anyObject, ResponseContentType }))
    expect(await (await fetch(url)).text()).toBe('a video')
  })

  it.each([
    ['nobody', {}],
    ['a signature of the second version', { authorization: 'AWS S3RVER:c2lnbmF0dXJl', date: new Date().toUTCString() }],
    ['a header without a signature', { authorization: 'AWS4-HMAC-SHA256 Credential=S3RVER/a/b/s3/aws4_request' }],
    ['a header that is none', { authorization: 'AWS4-HMAC-SHA256 ' }],
  ])('lists nothing, keeps nothing and deletes nothing for %s', async (_, headers) => {
    const key = `v/${randomUUID()}.mp4`
    await put(key, 'first')
    const object = `${engine.endpoint}/reelgate-videos/${key}`
    const outcomes = await Promise.all([
      fetch(`${engine.endpoint}/`, { headers }),
      fetch(engine.endpoint + LIST, { headers }),
      fetch(object, { headers }),
      fetch(object, { method: 'PUT', body: 'second', headers }),
      fetch(object, { method: 'DELETE', headers }),
      fetch(object, {
        method: 'OPTIONS',
        headers: { ...headers, origin: 'http://a', 'access-control-request-method': 'GET' },
      }),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 403))
    expect(await outcomes[1]?.text()).toContain('<Code>AccessDenied</Code>')
    expect((await engine.bytes(key)).toString()).toBe('first')
  })

  it('refuses another secret, another id, and a signature that was made for another request', async () => {
    const list = new ListObjectsV2Command({ Bucket: 'reelgate-videos' })
    for (const wrong of [{ secretAccessKey: 'guessed' }, { accessKeyId: 'other' }, { secretAccessKey: '' }]) {
      const client = connect({ ...engine.credentials, ...wrong })
      await expect(client.send(list)).rejects.toBeDefined()
      client.destroy()
    }
    const url = await getSignedUrl(engine.bucket.client, new GetObjectCommand(anyObject))
    const changed = [
      url.replace('.mp4?', '.mp3?'),
      `${url}&response-content-type=text/html`,
      url.replace('Expires=900', 'Expires=9000'),
      url.replace('SignedHeaders=host', 'SignedHeaders='),
    ]
    for (const each of changed) {
      expect((await fetch(each)).status).toBe(403)
    }
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403)
  })
})

describe('what is left of the differences from S3', () => {
  it('only If-None-Match: * is known; another condition is not looked at', async () => {
    const key = randomUUID()
    await put(key, 'first')
    const conditional = new PutObjectCommand({
      Bucket: engine.bucket.name,
      Key: key,
      Body: 'second',
      IfMatch: '"other"',
    })
    await engine.bucket.client.send(conditional)
    expect((await engine.bytes(key)).toString()).toBe('second')
  })
})
