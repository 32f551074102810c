import '#local/awslambda.ts'
import { describe, expect, it } from '@jest/globals'
import { StreamedAnswer } from '#lambdas/relay/streamed-answer.ts'
import { type ResponseSink, ResponseStream, streamForHandler } from '#local/response-stream.ts'

/** What reaches a client of an answer that is given up after its first bytes. */
async function givenUp(headers: Readonly<Record<string, string>>, begun: string): Promise<string> {
  let sent = ''
  const sink: ResponseSink = {
    take: (bytes, taken) => {
      sent += bytes.toString()
      taken()
    },
    end: () => undefined,
  }
  const answer = new StreamedAnswer(streamForHandler(new ResponseStream(sink)))
  answer.open({ statusCode: 200, headers })
  answer.write(begun)
  answer.giveUp()
  await answer.finished()
  return sent.slice(sent.indexOf(begun))
}

describe('an answer that is given up', () => {
  it('ends with an error event where it is a stream of events', async () => {
    const begun = 'data: {"choices":[]}\n\n'
    const sent = await givenUp({ 'content-type': 'text/event-stream' }, begun)
    expect(sent).toMatch(/^data: \{"choices":\[\]\}\n\ndata: \{"error":.*"answer_timeout".*\n\n$/)
  })

  it('just ends short where it is JSON, with its length told or not', async () => {
    const json = { 'content-type': 'application/json' }
    expect(await givenUp(json, '{"choices":[')).toBe('{"choices":[')
    expect(await givenUp({ ...json, 'content-length': '100' }, '{"choices":[')).toBe('{"choices":[')
  })
})
