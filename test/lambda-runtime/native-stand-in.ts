import { registerHooks } from 'node:module'

/**
 * In place of the runtime client's native part, for machines without cmake, where it is not compiled. Preloaded into the
 * process of a function; the client finds it where it looks for its own. Its stream does not go through the native part.
 */
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === './rapid-client.node'
      ? { url: import.meta.url, shortCircuit: true }
      : nextResolve(specifier, context),
})

const INVOCATIONS = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`

/** Waits for the next invocation, on a connection of its own, as libcurl does. */
export async function next(): Promise<{ bodyJson: string; headers: Record<string, string> }> {
  const response = await fetch(`${INVOCATIONS}/next`)
  return { bodyJson: await response.text(), headers: Object.fromEntries(response.headers) }
}

/** Posts the result of a function that does not stream, which no test here has. */
export function done(): never {
  throw new TypeError('the stand-in of the native part posts no results')
}

/** Posts the failure of a function that does not stream. */
export function error(): never {
  throw new TypeError('the stand-in of the native part posts no failures')
}
