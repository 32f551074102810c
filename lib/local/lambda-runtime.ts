import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Context } from 'aws-lambda'
// Comes first, because streaming handlers use the global when they are loaded.
import { isStreaming, type ResponseStream, streamForHandler } from './awslambda.ts'

/** A function of the local host: the handlers that AWS would run, loaded at the first invocation. */
export type LocalFunction = {
  readonly name: string
  readonly timeoutSeconds: number
  readonly load: () => Promise<{ readonly handler?: unknown; readonly streamHandler?: unknown }>
}

/**
 * A failed invocation as Lambda reports it: the name of the error, and a cause in JSON (`errorType`, `errorMessage`, `trace`), as Step
 * Functions passes it to Catch.
 */
export class FunctionError extends Error {
  override readonly name: string
  constructor(errorType: string, errorMessage: string, trace: readonly string[] = []) {
    super(JSON.stringify({ errorType, errorMessage, trace }))
    this.name = errorType
  }
}

/**
 * Invokes a function like Lambda: JSON in, JSON out, ended at its timeout. After the timeout the handler is not awaited any more. Unlike
 * on AWS, its code may run on in this process, where all of its writes are conditional.
 * @throws FunctionError with the handler's error name, or `Sandbox.Timedout`.
 */
export async function invokeFunction(target: LocalFunction, event: unknown): Promise<unknown> {
  const context = createContext(target)
  const { handler } = await target.load()
  if (typeof handler !== 'function') {
    throw new FunctionError('Runtime.HandlerNotFound', `${target.name} exports no handler`)
  }
  return await runInTime({ target, context }, async () => {
    const result: unknown = await handler(structuredClone(event), context)
    return result === undefined ? null : JSON.parse(JSON.stringify(result))
  })
}

/**
 * Invokes a function with a stream for its response. The invocation lasts until the handler's promise has resolved and the stream has
 * ended or lost its reader, because work after the response belongs to the invocation. The event is passed without a copy, so no other
 * invocation may use it.
 * @throws FunctionError like `invokeFunction`; bytes that were written before were sent.
 */
export async function invokeStreamingFunction(
  target: LocalFunction,
  event: unknown,
  responseStream: ResponseStream,
): Promise<void> {
  const context = createContext(target)
  const { streamHandler } = await target.load()
  if (!isStreaming(streamHandler)) {
    const message = `${target.name} exports no streamHandler from awslambda.streamifyResponse`
    throw new FunctionError('Runtime.HandlerNotFound', message)
  }
  await runInTime({ target, context }, async () => {
    await streamHandler(event, streamForHandler(responseStream), context)
    if (!(responseStream.writableFinished || responseStream.destroyed)) {
      await once(responseStream, 'close')
    }
  })
}

type Invocation = { readonly target: LocalFunction; readonly context: Context }

/** @throws FunctionError if the work throws, or has not ended at the function's timeout. */
async function runInTime<Result>({ target, context }: Invocation, work: () => Promise<Result>): Promise<Result> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const message = `RequestId: ${context.awsRequestId} Error: Task timed out after ${target.timeoutSeconds.toFixed(2)} seconds`
    reject(new FunctionError('Sandbox.Timedout', message))
  }, target.timeoutSeconds * 1000)
  try {
    return await Promise.race([work(), timeout])
  } catch (error) {
    throw error instanceof FunctionError ? error : describe(error)
  } finally {
    clearTimeout(timer)
  }
}

function describe(error: unknown): FunctionError {
  return error instanceof Error
    ? new FunctionError(error.name, error.message, error.stack?.split('\n') ?? [])
    : new FunctionError('Error', String(error))
}

function createContext({ name, timeoutSeconds }: LocalFunction): Context {
  const startedAt = Date.now()
  const awsRequestId = randomUUID()
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${name}`,
    memoryLimitInMB: '1024',
    awsRequestId,
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => timeoutSeconds * 1000 - (Date.now() - startedAt),
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  }
}
