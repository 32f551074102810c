import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import * as z from 'zod'
import { bundleHandler } from '#aws/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { writeTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'
import { createCpuShare } from './cpu-share.ts'

/** Memory at which a function has one whole vCPU. */
const MEGABYTES_PER_VCPU = 1769

/** A function's bundle and its process's own code, written to a directory. */
export type FunctionFiles = { readonly directory: string; readonly processFile: string }

/** Bundles an operation as it is deployed, and the process that runs it, so that nothing but Node loads them. */
export function writeFunction(parent: string, operation: string, configuration: object): FunctionFiles {
  const directory = join(parent, operation)
  mkdirSync(directory, { recursive: true })
  for (const { name, code } of bundleHandler({ root: REPOSITORY_ROOT, folder: `api/${operation}` }).files) {
    writeFileSync(join(directory, name), code)
  }
  writeFileSync(join(directory, 'gateway.json'), JSON.stringify(configuration))
  writeTokenizerRanks(join(directory, 'cl100k_base.json'))
  const processFile = join(directory, 'function-process.mjs')
  buildSync({
    entryPoints: [join(import.meta.dirname, 'function-process.ts')],
    outfile: processFile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
  })
  return { directory, processFile }
}

const loadReply = z.object({ milliseconds: z.number() })
const invokeReply = z.object({
  milliseconds: z.number(),
  cpuMilliseconds: z.number(),
  bytes: z.number(),
  statusCode: z.number(),
})
const peakReply = z.object({ megabytes: z.number() })

/** One execution environment. */
export type RelayFunction = {
  /** Milliseconds of the import of the bundle. */
  load(): Promise<number>
  invoke(event: object): Promise<z.infer<typeof invokeReply>>
  /** The most memory that the process has had resident. Megabytes. */
  peakMegabytes(): Promise<number>
  end(): Promise<void>
}

type StartOptions = FunctionFiles & {
  readonly memoryMegabytes: number
  /** Whether the process gets the share of a vCPU that Lambda gives to this memory, or a whole one. */
  readonly isLimited: boolean
  readonly environment: NodeJS.ProcessEnv
}

/** Starts a process that has not loaded its bundle yet. Node chooses half of the memory as its heap, as on a machine of that size. */
export async function startRelayFunction(options: StartOptions): Promise<RelayFunction> {
  const { directory, processFile, memoryMegabytes, isLimited, environment } = options
  const child = fork(processFile, [], {
    execArgv: [`--max-old-space-size=${Math.round(memoryMegabytes / 2)}`],
    env: { ...environment, LAMBDA_TASK_ROOT: directory, LOG_LEVEL: 'ERROR' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await once(child, 'spawn')
  const share = isLimited ? createCpuShare(memoryMegabytes / MEGABYTES_PER_VCPU) : undefined
  if (child.pid !== undefined) {
    share?.add(child.pid)
  }
  return {
    load: async () =>
      loadReply.parse(await ask(child, { kind: 'load', file: join(directory, 'index.mjs') })).milliseconds,
    invoke: async (event) => invokeReply.parse(await ask(child, { kind: 'invoke', event })),
    peakMegabytes: async () => peakReply.parse(await ask(child, { kind: 'peak' })).megabytes,
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGKILL')
        await exited
      }
      share?.remove()
    },
  }
}

async function ask(child: ChildProcess, message: object): Promise<unknown> {
  const over = new AbortController()
  const { signal } = over
  const ended = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`the process of the function ended with ${code ?? by}`)
  })
  const answered = once(child, 'message', { signal }).then(([reply]: unknown[]) => reply)
  // The one that loses is aborted.
  ended.catch(() => {})
  answered.catch(() => {})
  child.send(message)
  try {
    return await Promise.race([answered, ended])
  } finally {
    over.abort()
  }
}
