import { join } from 'node:path'
import { PinnedProcess, PROCESSORS } from './pinned-process.ts'
import { PACE_MILLISECONDS, type Pace } from './workload.ts'

const FILE = join(import.meta.dirname, 'mock-upstream.ts')

/** A running upstream. */
export type Upstream = { readonly origin: string; readonly pid: number; stop(): Promise<void> }

/** Starts one upstream for each pace, on the load's processor. */
export async function startUpstreams(): Promise<Readonly<Record<Pace, Upstream>>> {
  const burst = await startUpstream(0)
  try {
    return { burst, paced: await startUpstream(PACE_MILLISECONDS) }
  } catch (error) {
    await burst.stop()
    throw error
  }
}

async function startUpstream(gapMilliseconds: number): Promise<Upstream> {
  const upstream = new PinnedProcess({
    processors: PROCESSORS.load,
    parameters: [FILE, String(gapMilliseconds)],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const origin = await upstream.nextMessage<string>()
  return { origin, pid: upstream.pid, stop: () => upstream.stop() }
}
