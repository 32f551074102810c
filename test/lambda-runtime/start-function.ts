import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { keepChildOutput } from '../logs/keep-child-output.ts'
import { type PlatformReader, type Received, RuntimeApi } from './runtime-api.ts'

const CLIENT = join(import.meta.dirname, 'client', 'node_modules', 'aws-lambda-ric')

/** Whether the client was compiled when it was installed; otherwise a stand-in takes the place of its native part. */
export const hasNativePart = existsSync(join(CLIENT, 'rapid-client.node'))

type FunctionFiles = {
  /** Holds `index.mjs`. */
  readonly directory: string
  /** The export that is invoked. */
  readonly entry: string
  readonly environment?: Readonly<Record<string, string>>
}

/** An invocation as the platform and the operator see it. */
export type Invoked = Received & {
  /** Whether the process ended before it asked for the next invocation. */
  readonly endsProcess: boolean
}

/** One execution environment: a process of Lambda's runtime client with one function. */
export type FunctionProcess = {
  /** Resolves when the invocation is over: the client asks for the next one, or its process has ended. */
  invoke(event: unknown, reader?: PlatformReader): Promise<Invoked>
  /** All that the process has written. */
  output(): string
  close(): Promise<void>
}

/** Starts a function on Lambda's runtime client, with the variables of its own and no other. */
export async function startFunction({ directory, entry, environment = {} }: FunctionFiles): Promise<FunctionProcess> {
  const { api, address, close } = await RuntimeApi.start()
  const preload = hasNativePart ? [] : ['--import', join(import.meta.dirname, 'native-stand-in.ts')]
  const child = spawn(process.execPath, [...preload, join(CLIENT, 'index.mjs')], {
    env: {
      ...RUNTIME_VARIABLES,
      ...environment,
      AWS_LAMBDA_RUNTIME_API: address,
      LAMBDA_TASK_ROOT: directory,
      _HANDLER: `index.${entry}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  keepChildOutput(child)
  const output: string[] = []
  child.stdout.on('data', (chunk) => output.push(String(chunk)))
  child.stderr.on('data', (chunk) => output.push(String(chunk)))
  const ended = once(child, 'close').then(() => 'ended' as const)
  return {
    invoke: async (event, reader) => {
      // A connection that broke with its process is told a moment after it.
      const silent = ended.then(() => pause(1_000, 'silent' as const, { ref: false }))
      const first = await Promise.race([api.invoke(event, reader), silent])
      if (first === 'silent') {
        throw new Error(`the process ended before it answered:\n${output.join('')}`)
      }
      const over = await Promise.race([api.idle(), ended])
      return { ...first, endsProcess: over === 'ended' }
    },
    output: () => output.join(''),
    close: async () => {
      child.kill('SIGKILL')
      await ended
      await close()
    },
  }
}

/** What Lambda sets for every function, but for names of its own. */
const RUNTIME_VARIABLES = {
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_NAME: 'function',
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1024',
  AWS_LAMBDA_LOG_GROUP_NAME: 'group',
  AWS_LAMBDA_LOG_STREAM_NAME: 'stream',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
}
