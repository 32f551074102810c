import { pathToFileURL } from 'node:url'
import { ResponseStream } from '#local/awslambda.ts'
import { FunctionError, invokeFunction, invokeStreamingFunction, type LocalFunction } from '#local/lambda-runtime.ts'

/** One invocation of a bundle. */
export type Invocation = {
  readonly event: unknown
  readonly timeoutSeconds: number
  /** The export that the template names. */
  readonly entry: string
}

/** The result of a streaming function is what it wrote, in base64. */
export type InvocationOutcome = { readonly result: unknown } | { readonly errorType: string; readonly cause: string }

/**
 * A process of its own for one invocation of one bundle, as Lambda's sandbox is: forked with the bundle's file
 * as parameter and the function's environment, it takes an invocation and answers an outcome.
 */
process.once('message', ({ event, timeoutSeconds, entry }: Invocation) => {
  const file = pathToFileURL(process.argv[2] ?? '').href
  const target = { name: 'bundle', timeoutSeconds, load: () => import(file) }
  const invoke = entry === 'streamHandler' ? streamFrom : invokeFunction
  if (entry === 'handler') {
    // Not every emulator has it, and a handler of whole answers has no use for it.
    Reflect.deleteProperty(globalThis, 'awslambda')
  }
  invoke(target, event).then(
    (result) => answer({ result }),
    (error: unknown) => answer(failure(error)),
  )
})

async function streamFrom(target: LocalFunction, event: unknown): Promise<string> {
  const written: Buffer[] = []
  const take = (bytes: Buffer, taken: () => void) => {
    written.push(bytes)
    taken()
  }
  await invokeStreamingFunction(target, event, new ResponseStream({ take, end: () => undefined }))
  return Buffer.concat(written).toString('base64')
}

function failure(error: unknown): InvocationOutcome {
  return error instanceof FunctionError
    ? { errorType: error.name, cause: error.message }
    : { errorType: 'Runtime.ImportModuleError', cause: String(error) }
}

/** Sockets that the SDK keeps would hold the process up. */
function answer(outcome: InvocationOutcome): void {
  process.send?.(outcome, () => process.exit(0))
}
