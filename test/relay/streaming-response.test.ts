import '#local/awslambda.ts'
import { describe, expect, it } from '@jest/globals'
import { type ResponseHead, ResponseHeaders, STREAM_HEADERS } from '#lambdas/relay/client-response.ts'
import { StreamingResponse } from '#lambdas/relay/streaming-response.ts'
import { type ResponseSink, ResponseStream, streamForHandler } from '#local/awslambda.ts'

/** What reaches a client of an answer that is given up after its first bytes. */
async function givenUp(head: Omit<ResponseHead, 'statusCode'>, begun: string): Promise<string> {
  let sent = ''
  const sink: ResponseSink = {
    take: (bytes, taken) => {
      sent += bytes.toString()
      taken()
    },
    end: () => undefined,
  }
  const response = new StreamingResponse(streamForHandler(new ResponseStream(sink)), new ResponseHeaders('request-1'))
  response.open({ statusCode: 200, ...head })
  response.write(begun)
  response.giveUp()
  await response.finished()
  return sent.slice(sent.indexOf(begun))
}

describe('StreamingResponse, when it is given up,', () => {
  it('ends with an error event where it is a stream of events', async () => {
    const begun = 'data: {"choices":[]}\n\n'
    const outOfTime = 'data: {"error":{}}\n\n'
    expect(await givenUp({ headers: STREAM_HEADERS, outOfTime }, begun)).toBe(begun + outOfTime)
  })

  it('just ends short where it is JSON, with its length told or not', async () => {
    const json = { 'content-type': 'application/json' }
    expect(await givenUp({ headers: json }, '{"choices":[')).toBe('{"choices":[')
    expect(await givenUp({ headers: { ...json, 'content-length': '100' } }, '{"choices":[')).toBe('{"choices":[')
  })
})
