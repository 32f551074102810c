import { afterEach, describe, expect, it } from '@jest/globals'
import { engineCredentials, giveSimulatorKey, isSignedWith, signWith } from '#local/engine-credentials.ts'
import type { SignedRequest } from '../../lib/simulators/aws-signature.ts'

describe('engine credentials', () => {
  const PAIR = { AWS_ACCESS_KEY_ID: 'AKIAOWN', AWS_SECRET_ACCESS_KEY: 'own' }
  const before = { ...process.env }
  afterEach(() => {
    process.env = { ...before }
  })

  describe('the credentials of the engines', () => {
    it('have a secret of their own at every start, and an id that stays, by which some engines keep tables apart', () => {
      const [first, second] = [engineCredentials({}), engineCredentials({})]
      expect(first).toMatchObject({ accessKeyId: second.accessKeyId, isGiven: false })
      expect(first.secretAccessKey).not.toBe(second.secretAccessKey)
      expect(first.secretAccessKey).toMatch(/^[\w-]{43}$/)
    })

    it('are not those of the environment, which are for AWS, as long as all engines are ours', () => {
      expect(engineCredentials(PAIR)).toMatchObject({ isGiven: false })
      expect(engineCredentials({ ...PAIR, AWS_ENDPOINT_URL_DYNAMODB: '' }).secretAccessKey).not.toBe('own')
    })

    it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_S3'])(
      'are those of the environment where %s names an engine of somebody else',
      (name) => {
        const endpoint = { [name]: 'http://127.0.0.1:9' }
        const given = { accessKeyId: 'AKIAOWN', secretAccessKey: 'own', isGiven: true }
        expect(engineCredentials({ ...PAIR, ...endpoint })).toEqual(given)
        expect(engineCredentials(endpoint)).toMatchObject({ isGiven: false })
      },
    )

    it('come alone: a profile or a session of the environment would come before them', () => {
      Object.assign(process.env, { AWS_PROFILE: 'work', AWS_SESSION_TOKEN: 'token', ...PAIR })
      signWith({ accessKeyId: 'id', secretAccessKey: 'secret' })
      const { AWS_PROFILE, AWS_SESSION_TOKEN, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
      expect([AWS_PROFILE, AWS_SESSION_TOKEN]).toEqual([undefined, undefined])
      expect([AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY]).toEqual(['id', 'secret'])
    })
  })

  describe('the key of the simulated upstreams', () => {
    it('is another at every start, in the variable that it names', () => {
      const first = giveSimulatorKey()
      const second = giveSimulatorKey()
      expect(first.value).not.toBe(second.value)
      expect(process.env[second.name]).toBe(second.value)
    })
  })
})

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
