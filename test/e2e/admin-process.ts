import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { keepChildOutput } from '../logs/keep-child-output.ts'
import { openLog } from '../logs/kept-logs.ts'
import type { AdminAnswer, AdminRequest } from './answer-admin-commands.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'

/**
 * Admin commands with `--json` against one running local host, in a process that stays: starting one for each command
 * is half a second of work. `admin.test.ts` starts the command itself.
 */
export class AdminProcess {
  readonly #where: readonly string[]
  #child: ChildProcess | undefined

  constructor(dataDirectory: string) {
    this.#where = ['--json', '--local', '--data-dir', dataDirectory]
  }

  /** @returns what the command prints. @throws an error with what it says on stderr. */
  async run(command: readonly string[]): Promise<unknown> {
    this.#child ??= startChild()
    const { exitCode, stdout, stderr } = await ask(this.#child, {
      id: crypto.randomUUID(),
      command: [...command, ...this.#where],
    })
    const log = openLog('admin', 'stderr')
    log.write(stderr)
    log.close()
    if (exitCode !== 0) {
      throw new Error(`${command.join(' ')} exited with ${exitCode}: ${stderr}`)
    }
    return JSON.parse(stdout)
  }

  close(): void {
    if (this.#child?.connected === true) {
      this.#child.disconnect()
    }
    this.#child = undefined
  }
}

function startChild(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'answer-admin-commands.ts'), {
    cwd: REPOSITORY,
    env: { ...withoutRunner(), POWERTOOLS_METRICS_DISABLED: 'true', POWERTOOLS_LOG_LEVEL: 'SILENT' },
    execArgv: ['--import', join(REPOSITORY, 'bin/require-node.mjs')],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  // Commands of tests that run side by side wait for their answers at once.
  child.setMaxListeners(0)
  keepChildOutput(child)
  return child
}

function ask(child: ChildProcess, request: AdminRequest): Promise<AdminAnswer> {
  return new Promise((resolve, reject) => {
    const forget = () => {
      child.off('message', take)
      child.off('exit', fail)
    }
    const take = (answer: AdminAnswer) => {
      if (answer.id === request.id) {
        forget()
        resolve(answer)
      }
    }
    const fail = (code: number | null) => {
      forget()
      reject(new Error(`the process of the admin commands exited with ${code}`))
    }
    child.on('message', take)
    child.on('exit', fail)
    child.send(request)
  })
}
