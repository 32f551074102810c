import { fstatSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { meant } from '#core/nearest-name.ts'
import { OperatorError } from '../config/operator-error.ts'

/** A wrong command line: one sentence. The usage of the command is printed below it; exit code 2. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError'
}

/**
 * Node's `parseArgs` for commands that print their usage.
 * @throws UsageError with one sentence about the option that is wrong.
 */
export function parseOptions<const Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const [, typed] = /^Unknown option '(-[^'=]*)/.exec(message) ?? []
    throw new UsageError(typed === undefined ? message : unknownOption(typed, config), { cause: error })
  }
}

function unknownOption(typed: string, { options = {} }: ParseArgsConfig): string {
  const names = Object.keys(options).map((name) => `--${name}`)
  // `--port` for `--port-base`, which differs in more letters than another option does.
  const longer = names.find((name) => name.startsWith(`${typed}-`))
  return `there is no option ${typed}${meant(longer ?? typed, names)}`
}

/** @throws UsageError for anything but an integer within the bounds; `free` says what 0 means. */
export function readInteger(option: string, text: string, { min, max, free = '' }: IntegerBounds): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new UsageError(`${option} ${text}: use a number from ${min}${free} to ${max}`)
  }
  return value
}

type IntegerBounds = { readonly min: number; readonly max: number; readonly free?: string }

/**
 * Resolves at SIGINT or SIGTERM, and when the program that started this one is gone. Call it before the start, so that a signal during the
 * start counts. A second signal ends the process.
 * @returns `ready` is to be called after the start.
 */
export function stopSignal(): { readonly stopped: Promise<void>; ready(): void } {
  const signalled = new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
  const { ended, ready } = watchParent()
  void ended.then(() => console.error('stopping: the program that started this one is gone, or has closed its stdin'))
  return { stopped: Promise.race([signalled, ended]), ready }
}

const PARENT_LOOK_MILLISECONDS = 500

/** `ended` resolves when the program that started this one is gone; `ready` says that the start is over. */
type ParentWatch = { readonly ended: Promise<void>; ready(): void }

/**
 * Notices that the process that started this one has ended, even by SIGKILL: another process is the parent then, which is looked up twice a
 * second. Started by npm, also that the parent of npm has ended; unless stdin is `/dev/null` and that parent is a shell, as of commands in the
 * background, which outlive their shell, or npm was given a session of its own. A pipe as stdin that is closed counts too, if it was open
 * until `ready` was called: some programs start their children with a pipe that is closed from the beginning.
 */
function watchParent(): ParentWatch {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const counts = dependsOnParentOfNpm()
  const ancestors = () => [process.ppid, ...(counts ? [statOf(process.ppid).parent] : [])]
  const before = ancestors()
  const timer = setInterval(() => {
    if (ancestors().join() !== before.join()) {
      clearInterval(timer)
      resolve()
    }
  }, PARENT_LOOK_MILLISECONDS)
  timer.unref()
  let isReady = false
  if (isPipe()) {
    const closed = () => isReady && resolve()
    process.stdin.once('end', closed).once('error', closed).resume()
  }
  return {
    ended,
    ready: () => {
      isReady = true
    },
  }
}

/** Whether the end of the parent's parent counts too. */
function dependsOnParentOfNpm(): boolean {
  const { parent, session } = statOf(process.ppid)
  const isOfNpm = process.env.npm_lifecycle_event !== undefined && parent !== undefined
  return isOfNpm && !(isInBackground() && (isShell(parent) || session === process.ppid))
}

type ProcessStat = { readonly parent?: number; readonly session?: number }
const NO_STAT: ProcessStat = {}

/** By `/proc`, which Linux has; the name may hold spaces and brackets (proc(5)). */
function statOf(pid: number): ProcessStat {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(parent), session: Number(session) }
  } catch {
    return NO_STAT
  }
}

/** By its program: the name of the process is that of the file, where a script is started by its first line (`#!/bin/sh`). */
function isShell(pid: number): boolean {
  try {
    return /\/((ba|da|z|k|mk|a|fi)?sh|busybox)[\d.-]*( \(deleted\))?$/.test(readlinkSync(`/proc/${pid}/exe`))
  } catch {
    return false
  }
}

function isInBackground(): boolean {
  try {
    return fstatSync(0).rdev === statSync('/dev/null').rdev
  } catch {
    return true
  }
}

/** A terminal is never read, because reading stops a process in the background. */
function isPipe(): boolean {
  try {
    const stdin = fstatSync(0)
    return stdin.isFIFO() || stdin.isSocket()
  } catch {
    return false
  }
}

const WIDTH = 30

/** Redraws one bar on a terminal; to a file or a pipe, writes a line for each new status. */
export class ProgressBar {
  readonly #startedAt = Date.now()
  readonly #expectedSeconds: number
  #lastStatus = ''

  /** @param expectedSeconds an estimate: no upstream reports a percentage. */
  constructor(expectedSeconds: number) {
    this.#expectedSeconds = expectedSeconds
  }

  draw(status: string): void {
    const elapsed = (Date.now() - this.#startedAt) / 1000
    const share = status === 'succeeded' ? 1 : Math.min(0.95, elapsed / this.#expectedSeconds)
    const filled = Math.round(share * WIDTH)
    const line = `  [${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${elapsed.toFixed(1).padStart(5)} s  ${status}`
    if (process.stdout.isTTY) {
      process.stdout.write(`\r${line}   `)
    } else if (status !== this.#lastStatus) {
      process.stdout.write(`${line}\n`)
    }
    this.#lastStatus = status
  }

  end(): void {
    if (process.stdout.isTTY) {
      process.stdout.write('\n')
    }
  }
}

/** The delay before the first attempt to write again after a lost line, and the longest delay between two attempts. */
const FIRST_TRY_MILLISECONDS = 1_000
const LAST_TRY_MILLISECONDS = 60_000

/**
 * Keeps a server running when its output cannot be written: the pipe is closed, the disk is full, or the terminal is gone. Without
 * this, the first lost line ends the process. Lost lines are not written later; the first line that can be written says so.
 */
export function outliveLostOutput(streams: readonly Writable[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    let isTrying = false
    stream.on('error', () => {
      if (!isTrying) {
        isTrying = true
        sayWhenPossible(stream, new Date(), () => {
          isTrying = false
        })
      }
    })
  }
}

function sayWhenPossible(stream: Writable, since: Date, said: () => void): void {
  const message = `output was lost: nothing could be written since ${since.toISOString()}`
  const tryIn = (milliseconds: number) => {
    const timer = setTimeout(() => {
      stream.write(`${JSON.stringify({ level: 'WARN', message, timestamp: new Date().toISOString() })}\n`, (error) => {
        if (error === undefined || error === null) {
          said()
        } else {
          tryIn(Math.min(2 * milliseconds, LAST_TRY_MILLISECONDS))
        }
      })
    }, milliseconds)
    timer.unref()
  }
  tryIn(FIRST_TRY_MILLISECONDS)
}
