import '#local/awslambda.ts'
import { describe, expect, it } from '@jest/globals'
import { type ResponseHead, ResponseHeaders, STREAM_HEADERS } from '#lambdas/relay/client-response.ts'
import { StreamingResponse } from '#lambdas/relay/streaming-response.ts'
import { type ResponseSink, ResponseStream, streamForHandler } from '#local/awslambda.ts'

/** A response, and what has reached its client. */
function openResponse() {
  const client = { sent: '' }
  const sink: ResponseSink = {
    take: (bytes, taken) => {
      client.sent += bytes.toString()
      taken()
    },
    end: () => undefined,
  }
  const stream = streamForHandler(new ResponseStream(sink))
  return { client, response: new StreamingResponse(stream, new ResponseHeaders('request-1')) }
}

/** What reaches a client of a response that is given up after its first bytes. */
async function givenUp(head: Omit<ResponseHead, 'statusCode'>, begun: string): Promise<string> {
  const { client, response } = openResponse()
  response.open({ statusCode: 200, ...head })
  response.write(begun)
  response.giveUp()
  await response.finished()
  return client.sent.slice(client.sent.indexOf(begun))
}

describe('StreamingResponse', () => {
  it('sends status and headers before there is any byte of its body', async () => {
    const { client, response } = openResponse()
    response.open({ statusCode: 200, headers: { 'content-type': 'text/event-stream' } })
    await new Promise(setImmediate)
    expect(client.sent).toMatch(/^\{"statusCode":200,.*"content-type":"text\/event-stream".*\}\0{8}$/)
  })
})

describe('StreamingResponse, when it is given up,', () => {
  it('ends with an error event where it is a stream of events', async () => {
    const begun = 'data: {"choices":[]}\n\n'
    const outOfTime = 'data: {"error":{}}\n\n'
    expect(await givenUp({ headers: STREAM_HEADERS, outOfTime: () => outOfTime }, begun)).toBe(begun + outOfTime)
  })

  it('just ends short where it is JSON, with its length told or not', async () => {
    const json = { 'content-type': 'application/json' }
    expect(await givenUp({ headers: json }, '{"choices":[')).toBe('{"choices":[')
    expect(await givenUp({ headers: { ...json, 'content-length': '100' } }, '{"choices":[')).toBe('{"choices":[')
  })
})
