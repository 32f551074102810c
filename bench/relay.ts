import type { MeasureOptions } from './measurement.ts'
import type { Run } from './relay/case-medians.ts'
import { waitUntilMachineIdle } from './relay/machine-load.ts'
import { requireTwoProcessors } from './relay/pinned-process.ts'
import { installPortkey } from './relay/portkey-process.ts'
import type { RelayCase } from './relay/relay-cases.ts'
import { FULL_EFFORT, QUICK_EFFORT, type RelayEffort } from './relay/relay-effort.ts'
import { renderRelayReport } from './relay/relay-report.ts'
import { RunLog, selectRelay } from './relay/relay-selection.ts'
import { type RunningTarget, startTarget, type TargetName, type Upstreams } from './relay/relay-targets.ts'
import { sendLoad } from './relay/send-load.ts'
import { startUpstreams } from './relay/upstream-processes.ts'

/** Connections of the loads that come first on a fresh server. */
const FIRST_CONNECTIONS = 16

/** What runs between the first load and the cases: the first load has no streams, and code is compiled as it is used. */
const STREAM_WARM_UP = {
  plan: { kind: 'counted', connections: FIRST_CONNECTIONS, requests: 1_000 },
  pace: 'burst',
  stream: true,
} as const

/** The relay under load beside Portkey's gateway and no gateway at all, in one run on one machine. */
export async function measureRelay({ quick, progress, relay = {} }: MeasureOptions): Promise<string> {
  const effort = quick ? QUICK_EFFORT : FULL_EFFORT
  const { cases, targets, rounds = effort.rounds } = selectRelay(relay)
  const log = new RunLog(relay.runsFile)
  const memoryCase = `after ${effort.requests.toLocaleString('en')} requests`
  requireTwoProcessors()
  await installPortkey(progress)
  const upstreams = await startUpstreams()
  try {
    for (let round = 1; round <= rounds; round += 1) {
      await measureRound({ targets, cases, upstreams, effort, memoryCase }, (run) => {
        log.add(run)
        progress(`round ${round} of ${rounds}: ${describe(run)}`)
      })
    }
    const { measuredSeconds } = effort
    return `## Relay\n\n${renderRelayReport({ cases, targets, runs: log.runs, memoryCase, measuredSeconds })}`
  } finally {
    await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()))
  }
}

type Round = {
  readonly targets: readonly TargetName[]
  readonly cases: readonly RelayCase[]
  readonly upstreams: Upstreams
  readonly effort: RelayEffort
  /** Name of the load after which memory is read. */
  readonly memoryCase: string
}

/**
 * Every case on every target, each on a fresh server. The targets take turns within a case: the speed of a machine changes by the
 * minute, and a ratio of two targets compares figures of the same half minute.
 */
async function measureRound(
  { targets, cases, upstreams, effort, memoryCase }: Round,
  onRun: (run: Run) => void,
): Promise<void> {
  const started: { readonly target: TargetName; readonly running: RunningTarget }[] = []
  const measure = async ({ target, running }: (typeof started)[number], relayCase: RelayCase) => {
    const isUndisturbed = await waitUntilMachineIdle(effort.idleSecondsMax)
    const figures = await sendLoad(running, relayCase, effort)
    onRun({ target, caseName: relayCase.name, figures, isUndisturbed })
  }
  try {
    for (const target of targets) {
      const each = { target, running: await startTarget(target, upstreams) }
      started.push(each)
      await measure(each, {
        name: memoryCase,
        plan: { kind: 'counted', connections: FIRST_CONNECTIONS, requests: effort.requests },
        pace: 'burst',
        stream: false,
      })
      await sendLoad(each.running, STREAM_WARM_UP, effort)
    }
    for (const relayCase of cases) {
      for (const each of started) {
        await measure(each, relayCase)
      }
    }
  } finally {
    await Promise.all(started.map(({ running }) => running.stop()))
  }
}

function describe({ target, caseName, figures, isUndisturbed }: Run): string {
  const { perSecond, total, firstByte, residentBytes, cpuMilliseconds, failures, busy } = figures
  const { engineCpuMilliseconds } = figures
  return [
    `${target}, ${caseName}: ${perSecond.toFixed(1)} requests/s`,
    `p50 ${total.p50.toFixed(2)}, p99 ${total.p99.toFixed(2)}, first byte ${firstByte.p50.toFixed(2)} ms`,
    `${(residentBytes / 1e6).toFixed(0)} MB`,
    `CPU per request ${cpuMilliseconds.toFixed(3)} ms, ${engineCpuMilliseconds.toFixed(3)} ms of the engine`,
    `processors ${busy.map((share) => `${(share * 100).toFixed(0)} %`).join(' and ')} busy${isUndisturbed ? '' : ', disturbed'}`,
    ...Object.entries(failures).map(([reason, count]) => `${count} x ${reason}`),
  ].join('; ')
}
