import { cpuMilliseconds } from '../process-cpu.ts'
import { busyShares, processorTimes } from './machine-load.ts'
import { descendantsCpuMilliseconds, treeResidentBytes } from './process-tree.ts'

const SAMPLE_MILLISECONDS = 100

/** Memory and processor time of a server and the processes below it, and how busy the machine is, from now on. */
export function watchServer(serverPid: number) {
  const before = {
    own: cpuMilliseconds(serverPid),
    engine: descendantsCpuMilliseconds(serverPid),
    machine: processorTimes(),
  }
  let residentBytes = treeResidentBytes(serverPid)
  const timer = setInterval(() => {
    residentBytes = Math.max(residentBytes, treeResidentBytes(serverPid))
  }, SAMPLE_MILLISECONDS)
  return {
    end: () => {
      clearInterval(timer)
      const own = cpuMilliseconds(serverPid)
      const engine = descendantsCpuMilliseconds(serverPid)
      return {
        residentBytes: Math.max(residentBytes, treeResidentBytes(serverPid)),
        cpuMilliseconds: own - before.own,
        engineCpuMilliseconds: engine - before.engine,
        busy: busyShares(before.machine, processorTimes()),
      }
    },
  }
}
