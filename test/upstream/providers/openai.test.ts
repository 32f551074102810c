import { describe, expect, it } from '@jest/globals'
import { POST_BODY, textOf, usePosting } from '../../relay/posting.ts'
import { httpAnswer } from '../../relay/raw-upstream.ts'

const { start, post } = usePosting()

describe('POST_BODY: a post to OpenAI', () => {
  it('says who asks, for what, and under which id, and nothing else', async () => {
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200)))
    await textOf(post(upstream))

    const [request] = upstream.requests
    expect(request?.head.split('\r\n')).toStrictEqual([
      'POST /v1/chat/completions HTTP/1.1',
      'accept: application/json',
      'accept-encoding: identity',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(POST_BODY)}`,
      'user-agent: reelgate',
      'x-client-request-id: request-1',
      'authorization: Bearer secret-key',
      `Host: 127.0.0.1:${upstream.port}`,
      'Connection: keep-alive',
    ])
    expect(request?.body).toBe(POST_BODY)
  })

  it('sends no key where there is none', async () => {
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200)))
    await textOf(post(upstream, { credential: '' }))
    expect(upstream.requests[0]?.head).not.toMatch(/authorization/i)
  })
})
