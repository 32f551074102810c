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

/** CPU time that the processes below a process have used so far; what has ended no longer counts. */
export function descendantsCpuMilliseconds(pid: number): number {
  return sumOfTree(pid, (each) => (each === pid ? 0 : cpuMilliseconds(each)))
}

/** Resident memory of a process and everything below it (`VmRSS` of proc(5)): pages that two of them share count twice. */
export function treeResidentBytes(pid: number): number {
  return sumOfTree(pid, (each) => {
    const status = readFileSync(`/proc/${each}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  })
}

function sumOfTree(pid: number, readOne: (pid: number) => number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.reduce((sum, child) => sum + sumOfTree(Number(child), readOne), readOne(pid))
  } catch {
    // The process has ended between two looks.
    return 0
  }
}
