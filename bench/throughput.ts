import { type BenchHost, startBenchHost } from './bench-host.ts'
import { LoadClient, runClosedLoop } from './closed-loop.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { cpuMilliseconds, waitUntilResting } from './process-cpu.ts'
import { measureProfileShares } from './profile-shares.ts'
import { quantile } from './statistics.ts'
import { THROUGHPUT_OPERATIONS, type ThroughputOperation } from './throughput-operations.ts'

const CONNECTIONS = [1, 16, 64] as const

type Times = { readonly warmUpSeconds: number; readonly measuredSeconds: number }

const FULL: Times = { warmUpSeconds: 2, measuredSeconds: 8 }
const QUICK: Times = { warmUpSeconds: 0.5, measuredSeconds: 1.5 }

/** One line of the table. Times in milliseconds, CPU per request. */
type ThroughputRow = {
  readonly operation: string
  readonly connections: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  readonly hostCpu: number
  readonly engineCpu: number
}

type ThroughputOptions = Partial<MeasureOptions> & {
  /** Part of an operation's name: only those are measured. */
  readonly only?: string
}

/** Measures the local host under load, a fresh one for each operation, and where the time of its process goes. */
export async function measureThroughput(options: ThroughputOptions = {}): Promise<string> {
  const { quick = false, progress = () => undefined, only = '' } = options
  const times = quick ? QUICK : FULL
  const operations = THROUGHPUT_OPERATIONS.filter(({ name }) => name.includes(only))
  const rows: ThroughputRow[] = []
  for (const operation of operations) {
    progress(operation.name)
    rows.push(...(await measureOperation(operation, times)))
  }
  progress('profiles')
  return `## Throughput of the local host\n\n${renderRows(rows)}\n\n${await measureProfileShares(operations, times)}`
}

async function measureOperation(operation: ThroughputOperation, times: Times): Promise<ThroughputRow[]> {
  const host = await startBenchHost(operation)
  try {
    const next = await operation.prepare(host)
    const rows: ThroughputRow[] = []
    for (const connections of CONNECTIONS) {
      const client = new LoadClient({ ...host, connections })
      rows.push(await measureLoad({ host, client, operation, next }, times))
      client.close()
    }
    return rows
  } finally {
    await host.stop()
  }
}

type Load = {
  readonly host: BenchHost
  readonly client: LoadClient
  readonly operation: ThroughputOperation
  readonly next: Awaited<ReturnType<ThroughputOperation['prepare']>>
}

async function measureLoad({ host, client, operation, next }: Load, times: Times): Promise<ThroughputRow> {
  const load = { client, next, expectedStatus: operation.expectedStatus }
  await runClosedLoop({ ...load, seconds: times.warmUpSeconds })
  await waitUntilResting(host.pid)
  const before = { host: cpuMilliseconds(host.pid), engine: cpuMilliseconds(host.enginePid) }
  const { latencies, errors, seconds } = await runClosedLoop({ ...load, seconds: times.measuredSeconds })
  // A create that is answered when accepted leaves its submit to be done; the CPU time counts that too.
  await waitUntilResting(host.pid)
  const after = { host: cpuMilliseconds(host.pid), engine: cpuMilliseconds(host.enginePid) }
  return {
    operation: operation.name,
    connections: client.connections,
    perSecond: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    errors,
    hostCpu: (after.host - before.host) / latencies.length,
    engineCpu: (after.engine - before.engine) / latencies.length,
  }
}

const HEAD = [
  'operation',
  'connections',
  'requests/s',
  'p50 ms',
  'p99 ms',
  'errors',
  'host CPU ms/request',
  'engine CPU ms/request',
]

function renderRows(rows: readonly ThroughputRow[]): string {
  const cells = rows.map((row) => [
    row.operation,
    row.connections,
    row.perSecond.toFixed(row.perSecond < 100 ? 1 : 0),
    row.p50.toFixed(1),
    row.p99.toFixed(1),
    row.errors,
    row.hostCpu.toFixed(2),
    row.engineCpu.toFixed(2),
  ])
  return markdownTable(HEAD, cells)
}
