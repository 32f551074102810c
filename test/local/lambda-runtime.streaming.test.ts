import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ResponseStream } from '#local/awslambda.ts'
import { invokeStreamingFunction } from '#local/lambda-runtime.ts'

type StreamHandler = (event: unknown, stream: Writable, context: { functionName: string }) => Promise<void>

/** Invokes a streaming handler; the text grows while it writes. */
function stream(streamHandler: StreamHandler, { timeoutSeconds = 5, event = {} } = {}) {
  const answer = { text: '', hasEnded: false }
  const sink = {
    take: (bytes: Buffer, taken: () => void) => {
      answer.text += bytes.toString()
      taken()
    },
    end: () => {
      answer.hasEnded = true
    },
  }
  const load = async () => ({ streamHandler: awslambda.streamifyResponse(streamHandler) })
  const responseStream = new ResponseStream(sink)
  const ended = invokeStreamingFunction({ name: 'work', timeoutSeconds, load }, event, responseStream)
  return { answer, ended, responseStream }
}

describe('an invocation with a stream', () => {
  it('gives the handler its event as it is, the stream and a context', async () => {
    const event = { id: 1 }
    const seen: unknown[] = []
    const { answer, ended } = stream(
      async (given, responseStream, { functionName }) => {
        seen.push(given, functionName)
        responseStream.end('answer')
      },
      { event },
    )
    await ended
    expect(seen[0]).toBe(event)
    expect(seen[1]).toBe('work')
    expect(answer).toEqual({ text: 'answer', hasEnded: true })
  })

  it('lasts until the handler has done what it does behind the end of its answer', async () => {
    const settle = Promise.withResolvers<void>()
    const facts: string[] = []
    const { ended, responseStream } = stream(async (_event, each) => {
      each.end('answer')
      await settle.promise
      facts.push('settled')
    })
    const invocation = ended.then(() => facts.push('invocation ended'))
    await once(responseStream, 'close')
    expect(facts).toEqual([])
    settle.resolve()
    await invocation
    expect(facts).toEqual(['settled', 'invocation ended'])
  })

  it('lasts until the stream has ended when the handler resolves before', async () => {
    const end = Promise.withResolvers<void>()
    const { answer, ended } = stream(async (_event, each) => {
      void end.promise.then(() => each.end('answer'))
    })
    end.resolve()
    await ended
    expect(answer.hasEnded).toBe(true)
  })

  it('whose reader is gone ends with its handler, whether it ends its answer or not', async () => {
    const { ended, responseStream } = stream(async (_event, each) => void (await once(each, 'close')))
    responseStream.abandon()
    await ended
  })

  it.each<[string, StreamHandler, string]>([
    ['fails', () => Promise.reject(new RangeError('no kittens')), 'RangeError'],
    ['never resolves', () => new Promise(() => {}), 'Sandbox.Timedout'],
    ['never ends its answer', async (_event, each) => void each.write('answer'), 'Sandbox.Timedout'],
  ])('reports a handler that %s', async (_, handler, name) => {
    const { ended } = stream(handler, { timeoutSeconds: 0.05 })
    await expect(ended).rejects.toMatchObject({ name })
  })

  it.each([undefined, async () => undefined])(
    'of a module whose streamHandler is %p is Runtime.HandlerNotFound',
    async (streamHandler) => {
      const load = async () => ({ streamHandler })
      const sink = { take: () => undefined, end: () => undefined }
      const invocation = invokeStreamingFunction(
        { name: 'work', timeoutSeconds: 5, load },
        {},
        new ResponseStream(sink),
      )
      await expect(invocation).rejects.toMatchObject({ name: 'Runtime.HandlerNotFound' })
    },
  )
})
