import { createRequire } from 'node:module'
import { vi } from 'vitest'

/** What a test file may change in its process, as the worker had it at the start. */
type ProcessState = {
  readonly environment: NodeJS.ProcessEnv
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly directory: string
  readonly globals: Readonly<Record<string, unknown>>
  readonly timeout: typeof AbortSignal.timeout
  readonly now: typeof performance.now
}

declare global {
  var processAtStart: ProcessState | undefined
}

/** Before each test file: environment, clock, `fetch` and AWS clients are as a new worker has them. */
function restoreProcess(): void {
  globalThis.processAtStart ??= processState()
  const { environment, variables, directory, globals, timeout, now } = globalThis.processAtStart
  process.env = environment
  for (const name of Object.keys(environment)) {
    if (!(name in variables)) {
      delete environment[name]
    }
  }
  Object.assign(environment, variables)
  process.exitCode = undefined
  if (process.cwd() !== directory) {
    process.chdir(directory)
  }
  vi.useRealTimers()
  Object.assign(globalThis, globals)
  Object.assign(AbortSignal, { timeout })
  Object.assign(performance, { now })
  restoreAwsClients()
}

function processState(): ProcessState {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, fetch } = globalThis
  return {
    environment: process.env,
    variables: { ...process.env },
    directory: process.cwd(),
    globals: { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, fetch },
    timeout: AbortSignal.timeout,
    now: performance.now,
  }
}

/** The mock of the AWS SDK replaces `send` on classes, which all files of a worker share. */
function restoreAwsClients(): void {
  const { cache, resolve } = createRequire(createRequire(import.meta.url).resolve('aws-sdk-client-mock'))
  cache[resolve('sinon')]?.exports.restore()
}

restoreProcess()
