import type { MeasureOptions } from './measurement.ts'
import type { Run } from './relay/case-medians.ts'
import { waitUntilMachineIdle } from './relay/machine-load.ts'
import { requireTwoProcessors } from './relay/pinned-process.ts'
import { installPortkey } from './relay/portkey-process.ts'
import { RELAY_CASES, type RelayCase } from './relay/relay-cases.ts'
import { profileRelay, renderRelayProfiles } from './relay/relay-profile.ts'
import { renderRelayReport } from './relay/relay-report.ts'
import { startTarget, TARGETS, type TargetName, type Upstreams } from './relay/relay-targets.ts'
import { sendLoad } from './relay/send-load.ts'
import { startUpstreams } from './relay/upstream-processes.ts'

type Effort = {
  readonly rounds: number
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  /** Requests before memory is read. */
  readonly requests: number
  /** The longest wait for a machine without other work, before each run. */
  readonly idleSecondsMax: number
}

const FULL: Effort = { rounds: 3, warmUpSeconds: 1, measuredSeconds: 5, requests: 10_000, idleSecondsMax: 60 }
const QUICK: Effort = { rounds: 1, warmUpSeconds: 0.5, measuredSeconds: 1, requests: 1_000, idleSecondsMax: 0 }

/** Connections of the loads that come first on a fresh server. */
const FIRST_CONNECTIONS = 16

/** What runs between the first load and the cases: the first load has no streams, and code is compiled as it is used. */
const STREAM_WARM_UP = {
  plan: { kind: 'counted', connections: FIRST_CONNECTIONS, requests: 1_000 },
  pace: 'burst',
  stream: true,
} as const

/** The relay under load beside Portkey's gateway and no gateway at all, in one run on one machine. */
export async function measureRelay({ quick, progress }: MeasureOptions): Promise<string> {
  const effort = quick ? QUICK : FULL
  const memoryCase = `after ${effort.requests.toLocaleString('en')} requests`
  requireTwoProcessors()
  await installPortkey(progress)
  const upstreams = await startUpstreams()
  const runs: Run[] = []
  try {
    for (let round = 1; round <= effort.rounds; round += 1) {
      for (const target of TARGETS) {
        await measureTarget({ target, upstreams, effort, memoryCase }, (run) => {
          runs.push(run)
          progress(`round ${round} of ${effort.rounds}: ${describe(run)}`)
        })
      }
    }
    const report = renderRelayReport({ ...effort, cases: RELAY_CASES, runs, memoryCase })
    progress('profiles')
    const profiles = await profileRelay({ burst: upstreams.burst.origin, paced: upstreams.paced.origin }, effort)
    return `## Relay\n\n${report}\n\n${renderRelayProfiles(profiles)}`
  } finally {
    await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()))
  }
}

type Measured = {
  readonly target: TargetName
  readonly upstreams: Upstreams
  readonly effort: Effort
  /** Name of the load after which memory is read. */
  readonly memoryCase: string
}

/** Every case, on a fresh server. */
async function measureTarget(
  { target, upstreams, effort, memoryCase }: Measured,
  onRun: (run: Run) => void,
): Promise<void> {
  const running = await startTarget(target, upstreams)
  const measure = async (relayCase: RelayCase) => {
    const isUndisturbed = await waitUntilMachineIdle(effort.idleSecondsMax)
    const figures = await sendLoad(running, relayCase, effort)
    onRun({ target, caseName: relayCase.name, figures, isUndisturbed })
  }
  try {
    await measure({
      name: memoryCase,
      plan: { kind: 'counted', connections: FIRST_CONNECTIONS, requests: effort.requests },
      pace: 'burst',
      stream: false,
    })
    await sendLoad(running, STREAM_WARM_UP, effort)
    for (const relayCase of RELAY_CASES) {
      await measure(relayCase)
    }
  } finally {
    await running.stop()
  }
}

function describe({ target, caseName, figures, isUndisturbed }: Run): string {
  const { perSecond, total, firstByte, residentBytes, cpuMilliseconds, failures, busy } = figures
  return [
    `${target}, ${caseName}: ${perSecond.toFixed(1)} requests/s`,
    `p50 ${total.p50.toFixed(2)}, p99 ${total.p99.toFixed(2)}, first byte ${firstByte.p50.toFixed(2)} ms`,
    `${(residentBytes / 1e6).toFixed(0)} MB, ${cpuMilliseconds.toFixed(3)} ms CPU a request`,
    `processors ${busy.map((share) => `${(share * 100).toFixed(0)} %`).join(' and ')} busy${isUndisturbed ? '' : ', disturbed'}`,
    ...Object.entries(failures).map(([reason, count]) => `${count} x ${reason}`),
  ].join('; ')
}
