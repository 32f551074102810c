import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'

/** A process that did not start, or ended before it should. */
export class PinnedProcessError extends Error {
  override readonly name = 'PinnedProcessError'
}

/** The server under test has a processor for itself and its children; upstream and load share the other. */
export const PROCESSORS = { server: '0', load: '1' } as const

/** @throws PinnedProcessError where server and load cannot be kept apart. */
export function requireTwoProcessors(): void {
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new PinnedProcessError('the relay is measured on Linux, with two processors and taskset')
  }
}

type Options = {
  readonly directory?: string
  /** Beside the variables of this process. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A running process. `taskset` becomes the process that it starts, so `pid` is its own. */
export type PinnedProcess = { readonly child: ChildProcess; readonly pid: number; stop(): Promise<void> }

/** How long a process has for its orderly end. */
const END_MILLISECONDS_MAX = 10_000

/** Starts Node on one processor. It ends with this process at the latest. */
export function startPinned(processor: string, parameters: readonly string[], options: Options = {}): PinnedProcess {
  const child = spawn('taskset', ['-c', processor, process.execPath, ...parameters], {
    cwd: options.directory,
    env: { ...plainEnvironment(), ...options.environment },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const timer = setTimeout(kill, END_MILLISECONDS_MAX)
      child.kill('SIGTERM')
      await once(child, 'exit')
      clearTimeout(timer)
    }
  }
  return { child, pid: child.pid ?? 0, stop }
}

/** What the process sends to its parent next. @throws PinnedProcessError when it ends before. */
export async function nextMessage<Message>({ child }: PinnedProcess): Promise<Message> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new PinnedProcessError(`a process ended with ${signal ?? code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message
}

/** Without endpoints, credentials or options of Node and npm that the caller may have set for something else. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(AWS_|NODE_|POWERTOOLS_|LOG_LEVEL|npm_)/i.test(name))
  return Object.fromEntries(kept)
}
