import { startBenchHost } from './bench-host.ts'
import { LoadClient, runClosedLoop } from './closed-loop.ts'
import { recordCpuProfile } from './cpu-profile.ts'
import { markdownTable } from './markdown-table.ts'
import { cpuMilliseconds } from './process-cpu.ts'
import { PROFILE_PARTS, type ProfilePart, timeByPart } from './profile-parts.ts'
import type { ThroughputOperation } from './throughput-operations.ts'

const CONNECTIONS = 16

type Times = { readonly warmUpSeconds: number; readonly measuredSeconds: number }

type Shares = {
  readonly operation: string
  /** Milliseconds of the host's process. */
  readonly times: ReadonlyMap<ProfilePart, number>
  /** Of the CPU time of the host and the engine together, 0 to 1. */
  readonly engineShare: number
}

/** Where the time goes under load, one operation after the other: a Markdown table. */
export async function measureProfileShares(operations: readonly ThroughputOperation[], times: Times): Promise<string> {
  const shares: Shares[] = []
  for (const operation of operations) {
    shares.push(await profile(operation, times))
  }
  const head = [`part of the host's process, ${CONNECTIONS} connections`, ...shares.map(({ operation }) => operation)]
  return markdownTable(head, [
    ...PROFILE_PARTS.map((part) => [part, ...shares.map((each) => shareOf(part, each))]),
    ['DynamoDB engine, of the CPU time of both processes', ...shares.map(({ engineShare }) => percent(engineShare))],
  ])
}

async function profile(operation: ThroughputOperation, times: Times): Promise<Shares> {
  const host = await startBenchHost({ ...operation, withInspector: true })
  try {
    const next = await operation.prepare(host)
    const client = new LoadClient({ ...host, connections: CONNECTIONS })
    const load = { client, next, expectedStatus: operation.expectedStatus }
    await runClosedLoop({ ...load, seconds: times.warmUpSeconds })
    const cpu = () => ({ host: cpuMilliseconds(host.pid), engine: cpuMilliseconds(host.enginePid) })
    const before = cpu()
    const recorded = await recordCpuProfile(host.inspectorUrl ?? '', () =>
      runClosedLoop({ ...load, seconds: times.measuredSeconds }),
    )
    const after = cpu()
    client.close()
    const engine = after.engine - before.engine
    return {
      operation: operation.name,
      times: timeByPart(recorded),
      engineShare: engine / (engine + after.host - before.host),
    }
  } finally {
    await host.stop()
  }
}

/** Of the time that the process was not idle; idle itself of all time. */
function shareOf(part: ProfilePart, { times }: Shares): string {
  const whole = part === 'idle' ? busyTime(times) + (times.get('idle') ?? 0) : busyTime(times)
  return percent((times.get(part) ?? 0) / whole)
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

function busyTime(times: ReadonlyMap<ProfilePart, number>): number {
  return [...times].reduce((sum, [part, milliseconds]) => (part === 'idle' ? sum : sum + milliseconds), 0)
}
