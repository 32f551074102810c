import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { ResponseStream } from '#local/awslambda.ts'
import { FunctionError, invokeFunction, invokeStreamingFunction, type LocalFunction } from '#local/lambda-runtime.ts'

class UpstreamFailedError extends Error {
  override readonly name = 'UpstreamFailedError'
}

function target(handler: unknown, timeoutSeconds = 5): LocalFunction {
  return { name: 'work', timeoutSeconds, load: async () => ({ handler }) }
}

const failureOf = async (handler: unknown, timeoutSeconds?: number) => {
  const error: unknown = await invokeFunction(target(handler, timeoutSeconds), {}).catch((reason: unknown) => reason)
  if (!(error instanceof FunctionError)) {
    throw new Error(`no function error: ${String(error)}`)
  }
  return { name: error.name, cause: JSON.parse(error.message) }
}

describe('an invocation', () => {
  it('gives the handler its event and a context, and answers JSON', async () => {
    const seen: unknown[] = []
    const answer = await invokeFunction(
      target(async (event: unknown, context: { functionName: string; awsRequestId: string }) => {
        seen.push(event, context.functionName, context.awsRequestId.length)
        return { at: new Date(0), nothing: undefined }
      }),
      { id: 1 },
    )
    expect(seen).toEqual([{ id: 1 }, 'work', 36])
    expect(answer).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })

  it('hands over a copy: what a handler does to its event is seen by nobody', async () => {
    const event = { list: [1] }
    await invokeFunction(
      target(async (own: typeof event) => {
        own.list.push(2)
      }),
      event,
    )
    expect(event).toEqual({ list: [1] })
  })

  it('without a result answers null', async () => {
    expect(
      await invokeFunction(
        target(async () => undefined),
        {},
      ),
    ).toBeNull()
  })

  it('that fails has the name of the error and a cause of errorType, errorMessage and trace', async () => {
    const { name, cause } = await failureOf(() => Promise.reject(new UpstreamFailedError('no kittens')))
    expect(name).toBe('UpstreamFailedError')
    expect(cause).toMatchObject({ errorType: 'UpstreamFailedError', errorMessage: 'no kittens' })
    expect(cause.trace[0]).toContain('no kittens')
  })

  it('that throws something else than an error is an Error with its text', async () => {
    expect(await failureOf(() => Promise.reject('words'))).toEqual({
      name: 'Error',
      cause: { errorType: 'Error', errorMessage: 'words', trace: [] },
    })
  })

  it('of a module without a handler is Runtime.HandlerNotFound', async () => {
    expect((await failureOf(undefined)).name).toBe('Runtime.HandlerNotFound')
  })

  it('past its timeout is Sandbox.Timedout', async () => {
    const { name, cause } = await failureOf(() => new Promise(() => {}), 0.05)
    expect(name).toBe('Sandbox.Timedout')
    expect(cause.errorMessage).toMatch(/^RequestId: [0-9a-f-]{36} Error: Task timed out after 0.05 seconds$/)
  })

  it('knows how much of its time is left', async () => {
    const left = await invokeFunction(
      target(async (_: unknown, context: { getRemainingTimeInMillis(): number }) => context.getRemainingTimeInMillis()),
      {},
    )
    expect(left).toBeGreaterThan(4_000)
    expect(left).toBeLessThanOrEqual(5_000)
  })
})

describe('what is left of the differences from Lambda', () => {
  it('a handler past its timeout is not waited for, but its code runs on', async () => {
    const release = Promise.withResolvers<void>()
    const finished = Promise.withResolvers<string>()
    const handler = async () => {
      await release.promise
      finished.resolve('ran on')
    }
    expect((await failureOf(handler, 0.05)).name).toBe('Sandbox.Timedout')
    release.resolve()
    expect(await finished.promise).toBe('ran on')
  })

  it('one instance takes invocations side by side', async () => {
    let running = 0
    let most = 0
    const handler = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
    }
    await Promise.all([1, 2, 3].map(() => invokeFunction(target(handler), {})))
    expect(most).toBe(3)
  })
})

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
