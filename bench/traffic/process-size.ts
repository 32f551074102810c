import { readdirSync, readFileSync } from 'node:fs'

/** What a process uses at one moment. */
export type ProcessSize = { readonly residentBytes: number; readonly descriptors: number }

/** Reads the size of a process from `/proc` (proc(5)). @throws when there is no such process. */
export function processSize(pid: number): ProcessSize {
  const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return { residentBytes: kibibytes * 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length }
}
