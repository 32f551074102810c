import { cpuMilliseconds, descendantsCpuMilliseconds, treeResidentBytes } from '../process-use.ts'
import { type LoadFigures, type LoadOrder, runLoad } from './load.ts'

/** A load, and the server that it is for. */
export type WatchedLoad = LoadOrder & { readonly serverPid: number; readonly warmUpSeconds: number }

/** The figures of a load, and what it took of the server. */
export type WatchedFigures = LoadFigures & {
  /** Of the server's own process, for each request. */
  readonly cpuMilliseconds: number
  /** Of the processes below the server, for each request: with our gateway that of the table's engine. */
  readonly engineCpuMilliseconds: number
  /** Of the server and the processes below it, after the load. */
  readonly residentBytes: number
}

/** Runs the load that its parent sends, and replies with the figures. It is a process so that it has a processor of its own. */
process.once('message', async (order: WatchedLoad) => {
  const { serverPid, warmUpSeconds } = order
  if (warmUpSeconds > 0) {
    await runLoad({ ...order, until: { seconds: warmUpSeconds } })
  }
  const [own, engine] = [cpuMilliseconds(serverPid), descendantsCpuMilliseconds(serverPid)]
  const figures = await runLoad(order)
  const watched: WatchedFigures = {
    ...figures,
    cpuMilliseconds: (cpuMilliseconds(serverPid) - own) / figures.requests,
    engineCpuMilliseconds: (descendantsCpuMilliseconds(serverPid) - engine) / figures.requests,
    residentBytes: treeResidentBytes(serverPid),
  }
  process.send?.(watched, () => process.disconnect())
})
