import { readFileSync } from 'node:fs'
import { cpuMilliseconds } from '../process-cpu.ts'

const KIBIBYTE = 1024

/** Processor time that the processes below a process have used so far; what has ended no longer counts. */
export function descendantsCpuMilliseconds(pid: number): number {
  return sumOfTree(pid, (each) => (each === pid ? 0 : cpuMilliseconds(each)))
}

/** Resident memory of a process and everything below it: pages that two of them share count twice. */
export function treeResidentBytes(pid: number): number {
  return sumOfTree(pid, residentBytes)
}

/** `VmRSS` of proc(5). */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * KIBIBYTE
}

function sumOfTree(pid: number, readOne: (pid: number) => number): number {
  return processTree(pid).reduce((sum, each) => sum + (readUnlessEnded(() => readOne(each)) ?? 0), 0)
}

function processTree(pid: number): number[] {
  const children = readUnlessEnded(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) ?? ''
  return [pid, ...children.split(' ').filter(Boolean).map(Number).flatMap(processTree)]
}

/** A process may end between two looks. */
function readUnlessEnded<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
