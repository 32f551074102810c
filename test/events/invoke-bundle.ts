import { pathToFileURL } from 'node:url'
import { FunctionError, invokeFunction } from '#local/lambda-runtime.ts'

/**
 * A process of its own for one invocation of one bundle, as Lambda's sandbox is: forked with the bundle's file
 * as parameter and the function's environment, it takes `{ event, timeoutSeconds }` and answers an outcome.
 */
export type InvocationOutcome = { readonly result: unknown } | { readonly errorType: string; readonly cause: string }

process.once('message', ({ event, timeoutSeconds }: { event: unknown; timeoutSeconds: number }) => {
  const file = pathToFileURL(process.argv[2] ?? '').href
  invokeFunction({ name: 'bundle', timeoutSeconds, load: () => import(file) }, event).then(
    (result) => answer({ result }),
    (error: unknown) => answer(failure(error)),
  )
})

function failure(error: unknown): InvocationOutcome {
  return error instanceof FunctionError
    ? { errorType: error.name, cause: error.message }
    : { errorType: 'Runtime.ImportModuleError', cause: String(error) }
}

/** Sockets that the SDK keeps would hold the process up. */
function answer(outcome: InvocationOutcome): void {
  process.send?.(outcome, () => process.exit(0))
}
