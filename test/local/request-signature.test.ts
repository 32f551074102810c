import { describe, expect, it } from 'vitest'
import { isSignedWith, type SignedRequest } from '#local/engine-credentials.ts'

/** The examples of the S3 API reference, "Authenticating Requests: Using the Authorization Header" and "Using Query Parameters". */
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
const SCOPE = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'
const HOST = { host: 'examplebucket.s3.amazonaws.com' }
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const DATED = { ...HOST, 'x-amz-content-sha256': EMPTY, 'x-amz-date': '20130524T000000Z' }

const authorization = (signedHeaders: string, signature: string) =>
  `AWS4-HMAC-SHA256 Credential=${SCOPE},SignedHeaders=${signedHeaders},Signature=${signature}`

const getObject = {
  method: 'GET',
  url: '/test.txt',
  headers: {
    ...DATED,
    range: 'bytes=0-9',
    authorization: authorization(
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ),
  },
}
const list = {
  method: 'GET',
  url: '/?max-keys=2&prefix=J',
  headers: {
    ...DATED,
    authorization: authorization(
      'host;x-amz-content-sha256;x-amz-date',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ),
  },
}
const presigned = {
  method: 'GET',
  url: `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${encodeURIComponent(SCOPE)}&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`,
  headers: HOST,
}

describe('a signature', () => {
  it.each([
    ['of a header', getObject],
    ['over a query', list],
    ['over a query in another order', { ...list, url: '/?prefix=J&max-keys=2' }],
    ['of a presigned url', presigned],
  ])('%s that AWS publishes as an example is right', (_, request) => {
    expect(isSignedWith(request, CREDENTIALS)).toBe(true)
  })

  it.each<[string, Partial<SignedRequest>]>([
    ['method', { method: 'DELETE' }],
    ['path', { url: '/other.txt' }],
    ['query', { url: '/test.txt?acl' }],
    ['host', { headers: { ...getObject.headers, host: 'other' } }],
    ['signed header', { headers: { ...getObject.headers, range: 'bytes=0-10' } }],
    ['time', { headers: { ...getObject.headers, 'x-amz-date': '20130524T000001Z' } }],
    ['digest of the body', { headers: { ...getObject.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }],
  ])('is wrong for another %s', (_, change) => {
    expect(isSignedWith({ ...getObject, ...change }, CREDENTIALS)).toBe(false)
  })

  it('is wrong with another secret or another id', () => {
    for (const request of [getObject, list, presigned]) {
      expect(isSignedWith(request, { ...CREDENTIALS, secretAccessKey: 'other' })).toBe(false)
      expect(isSignedWith(request, { ...CREDENTIALS, accessKeyId: 'other' })).toBe(false)
    }
  })

  it('that is missing, cut or of another kind is wrong, and nothing throws', () => {
    const whole = getObject.headers.authorization
    const texts = [
      undefined,
      '',
      'Bearer a',
      'AWS a:b',
      whole.toLowerCase(),
      ...Array.from(whole, (_, at) => whole.slice(0, at)),
    ]
    for (const text of texts) {
      expect(isSignedWith({ ...getObject, headers: { ...getObject.headers, authorization: text } }, CREDENTIALS)).toBe(
        false,
      )
    }
    expect(isSignedWith({ url: '/%zz?%zz', headers: {} }, CREDENTIALS)).toBe(false)
  })
})
