import { afterEach, describe, expect, it } from 'vitest'
import {
  CANCEL_LIMITS,
  createUpstreamHttp,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type UpstreamHttp,
} from '#adapters/providers/video/upstream-http.ts'
import { httpAnswer, type RawUpstream, startRawUpstream } from '../../../relay/raw-upstream.ts'

const BODY = '{"prompt":"words 😀"}'

describe('createUpstreamHttp', () => {
  let http: UpstreamHttp
  let upstream: RawUpstream
  const open = async () => {
    http = createUpstreamHttp()
    upstream = await startRawUpstream(({ socket }) => socket.write(httpAnswer(200, '{}')))
    return { url: `${upstream.origin}/tasks`, headers: { Authorization: 'Bearer key' } }
  }
  afterEach(async () => {
    http.close()
    await upstream.stop()
  })

  it('sends a request that says who asks and how long it is', async () => {
    const request = await open()
    await http.send({ ...request, method: 'POST', body: BODY, limits: SUBMIT_LIMITS })
    expect(upstream.requests[0]?.head.split('\r\n')).toStrictEqual([
      'POST /tasks HTTP/1.1',
      'User-Agent: reelgate',
      'Accept-Encoding: identity',
      'Authorization: Bearer key',
      `Content-Length: ${Buffer.byteLength(BODY)}`,
      `Host: 127.0.0.1:${upstream.port}`,
      'Connection: close',
    ])
    expect(upstream.requests[0]?.body).toBe(BODY)
  })

  it('keeps connections for polls and opens one for each submit and cancel', async () => {
    const request = await open()
    await http.send({ ...request, method: 'GET', limits: POLL_LIMITS })
    await http.send({ ...request, method: 'GET', limits: POLL_LIMITS })
    expect(upstream.sockets).toHaveLength(1)
    await http.send({ ...request, method: 'POST', body: BODY, limits: SUBMIT_LIMITS })
    await http.send({ ...request, method: 'DELETE', limits: CANCEL_LIMITS })
    expect(upstream.sockets).toHaveLength(3)
  })
})
