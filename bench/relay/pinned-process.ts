import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/**
 * Two processors: the server under test has one for itself, with its children; upstream and load share the other.
 * A profiled server gets both: on a single one the thread that takes the samples has its turn at system calls only, and
 * the profile would show these and little else.
 */
export const PROCESSORS = { server: '0', load: '1', profiled: '0,1' } as const

/** A process that did not start, or ended before it should. */
export class PinnedProcessError extends Error {
  override readonly name = 'PinnedProcessError'
}

type Pinned = {
  readonly processors: string
  /** Parameters of Node. */
  readonly parameters: readonly string[]
  readonly directory?: string
  readonly stdio: SpawnOptions['stdio']
  /** Beside the variables of this process. */
  readonly environment?: Readonly<Record<string, string>>
}

/** @throws PinnedProcessError where server and load cannot be kept apart. */
export function requireTwoProcessors(): void {
  if (process.platform !== 'linux' || availableParallelism() < 2) {
    throw new PinnedProcessError('the relay is measured on Linux, with two processors and taskset')
  }
}

/** How long a process has for its orderly end. */
const END_MILLISECONDS_MAX = 10_000

/** A Node process on one processor; it ends with this process at the latest. */
export class PinnedProcess {
  readonly child: ChildProcess

  constructor({ processors, parameters, directory, stdio = 'ignore', environment }: Pinned) {
    const command = ['-c', processors, process.execPath, ...parameters]
    this.child = spawn('taskset', command, { cwd: directory, env: { ...plainEnvironment(), ...environment }, stdio })
    process.once('exit', this.#kill)
    this.child.once('exit', () => process.off('exit', this.#kill))
    this.child.once('error', () => undefined)
  }

  /** `taskset` becomes the process that it starts, so this is the server's own. */
  get pid(): number {
    return this.child.pid ?? 0
  }

  /** The first group of the first line that matches. @throws PinnedProcessError when the process ends before. */
  matchingLine(output: Readable | null, pattern: RegExp): Promise<string> {
    return this.#orExit((resolve) => {
      if (output !== null) {
        createInterface(output).on('line', (line) => {
          const found = pattern.exec(line)?.[1]
          if (found !== undefined) {
            resolve(found)
          }
        })
      }
    })
  }

  /** What the process says next to its parent. @throws PinnedProcessError when it ends before. */
  nextMessage<Message>(): Promise<Message> {
    return this.#orExit((resolve) => this.child.once('message', (message: Message) => resolve(message)))
  }

  /** Asks the process to end, and sees to it. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined) {
      return
    }
    const exited = once(this.child, 'exit')
    const timer = setTimeout(this.#kill, END_MILLISECONDS_MAX)
    this.child.kill('SIGTERM')
    await exited
    clearTimeout(timer)
  }

  readonly #kill = (): void => {
    this.child.kill('SIGKILL')
  }

  #orExit<Value>(listen: (resolve: (value: Value) => void) => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.child.once('exit', (code, signal) =>
        reject(new PinnedProcessError(`a process ended with ${signal ?? code}`)),
      )
      this.child.once('error', (cause) => reject(new PinnedProcessError('taskset does not start', { cause })))
      listen(resolve)
    })
  }
}

/** Without endpoints, credentials or options of Node and npm that the caller may have set for something else. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(AWS_|NODE_|POWERTOOLS_|LOG_LEVEL|npm_)/i.test(name))
  return Object.fromEntries(kept)
}
