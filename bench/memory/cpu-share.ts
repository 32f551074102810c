import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Microseconds over which a share is kept: Lambda's own slices are of this order, so that a burst stalls as long as there. */
const PERIOD_MICROSECONDS = 20_000

const ROOT = '/sys/fs/cgroup'
const V1 = join(ROOT, 'cpu')

/** A group of processes that together get no more than a share of one processor. */
export type CpuShare = {
  add(pid: number): void
  /** Its processes must have ended. */
  remove(): void
}

/** Whether this machine lets us limit processors: Linux, root, and a writable cgroup hierarchy. */
export function canLimitCpu(): boolean {
  return isWritable(V1) || (existsSync(join(ROOT, 'cgroup.controllers')) && isWritable(ROOT))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** @param share of one processor. @throws where {@link canLimitCpu} is false. */
export function createCpuShare(share: number): CpuShare {
  const isV1 = isWritable(V1)
  const directory = join(isV1 ? V1 : ROOT, `reelgate-bench-${process.pid}-${Math.round(share * 1000)}`)
  mkdirSync(directory, { recursive: true })
  const quota = Math.max(1000, Math.round(share * PERIOD_MICROSECONDS))
  if (isV1) {
    writeFileSync(join(directory, 'cpu.cfs_period_us'), String(PERIOD_MICROSECONDS))
    writeFileSync(join(directory, 'cpu.cfs_quota_us'), String(quota))
  } else {
    writeFileSync(join(directory, 'cpu.max'), `${quota} ${PERIOD_MICROSECONDS}`)
  }
  return {
    add: (pid) => writeFileSync(join(directory, 'cgroup.procs'), String(pid)),
    remove: () => rmdirSync(directory),
  }
}
