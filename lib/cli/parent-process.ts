import { fstatSync, readFileSync, statSync } from 'node:fs'

const LOOK_MILLISECONDS = 500

/** `ended` resolves when the program that started this one is gone; `ready` says that the start is over. */
export type ParentWatch = { readonly ended: Promise<void>; ready(): void }

/**
 * Notices that the process that started this one has ended, even by SIGKILL: another process is the parent then, which is looked up twice a
 * second. Started by npm, whose parent is a shell, also that the shell has ended; unless stdin is `/dev/null`, as of commands in the
 * background, which outlive their shell. A pipe as stdin that is closed counts too, if it was open until `ready` was called: some programs
 * start their children with a pipe that is closed from the beginning.
 */
export function watchParent(): ParentWatch {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const before = ancestors()
  const timer = setInterval(() => {
    if (ancestors().join() !== before.join()) {
      clearInterval(timer)
      resolve()
    }
  }, LOOK_MILLISECONDS)
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

/** The parent and, where it counts, its parent. */
function ancestors(): number[] {
  const isOfNpm = process.env.npm_lifecycle_event !== undefined && !isInBackground()
  return [process.ppid, ...(isOfNpm ? parentOf(process.ppid) : [])]
}

/** By `/proc`, which Linux has; the second field after the name, which may hold spaces and brackets (proc(5)). */
function parentOf(pid: number): number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [Number(ppid)]
  } catch {
    return []
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
