import { readFileSync } from 'node:fs'

/** Linux counts CPU time in ticks of this length for every program (`USER_HZ`), whatever the kernel's own clock. */
const TICK_MILLISECONDS = 10

/** Where user and system ticks stand in `/proc/<pid>/stat`, counted from after the name (proc(5), fields 14 and 15). */
const TICK_FIELDS = { user: 11, system: 12 }

/** CPU time that a process has used, all its threads, in milliseconds. @throws when there is no such process. */
export function cpuMilliseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[TICK_FIELDS.user]) + Number(fields[TICK_FIELDS.system])) * TICK_MILLISECONDS
}

/** The process of this name below another one. @throws when there is none. */
export function findDescendant(pid: number, name: string): number {
  const found = descendants(pid).find((child) => readFileSync(`/proc/${child}/comm`, 'utf8').trim() === name)
  if (found === undefined) {
    throw new RangeError(`no process ${name} below ${pid}`)
  }
  return found
}

function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...descendants(child)])
}
