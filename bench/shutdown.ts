import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Table } from '#adapters/store/table/table.ts'
import { readLedgerRows } from '#lambdas/admin/ledger/read-ledger.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { startTestTable } from '../test/engines/start-test-table.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { median } from './statistics.ts'
import { startEchoUpstream } from './traffic/echo-upstream.ts'
import { type HeldStream, holdStream } from './traffic/held-stream.ts'
import { bundleRelayServer, type RelayProcess, startRelayProcess } from './traffic/relay-process.ts'
import { startTableProxy, type TableProxy } from './traffic/table-proxy.ts'
import { writeTrafficConfig } from './traffic/traffic-config.ts'
import { makeTrafficTenants, type TrafficTenant } from './traffic/traffic-tenants.ts'

/** As many as a Web Function has in one process. */
const STREAMS = 64
const ROUNDS = 10
const QUICK_ROUNDS = 2

/** Between two events of a stream. */
const EVENT_MILLISECONDS = 100
/** How long all streams are open before the process is told to stop. */
const OPEN_MILLISECONDS = 1_000

type ShutdownCase = {
  /** Among whom the streams are shared. */
  readonly tenants: number
  /** Before each transaction reaches the table. */
  readonly transactionMilliseconds: number
}

const CASES: readonly ShutdownCase[] = [
  { tenants: 1, transactionMilliseconds: 0 },
  { tenants: 1, transactionMilliseconds: 8 },
  { tenants: 64, transactionMilliseconds: 0 },
  { tenants: 64, transactionMilliseconds: 8 },
]

/** One end of a process; times from SIGTERM, in milliseconds. */
type Shutdown = {
  /** Until the last transaction was confirmed. */
  readonly settled: number
  /** Until the process had ended. */
  readonly ended: number
  readonly transactions: number
  /** Streams without a settlement. */
  readonly unsettled: number
}

/** How long a relay server takes from SIGTERM until its open streams are settled, and until it has ended. */
export async function measureShutdown({ quick, progress }: MeasureOptions): Promise<string> {
  const rows: (string | number)[][] = []
  for (const each of CASES) {
    const rounds = await shutDownAgainAndAgain(each, quick ? QUICK_ROUNDS : ROUNDS)
    const both = (pick: (round: Shutdown) => number) => {
      const values = rounds.map(pick)
      return `${median(values).toFixed(0)}, ${Math.max(...values).toFixed(0)}`
    }
    rows.push([
      each.tenants,
      each.transactionMilliseconds,
      rounds.length,
      both(({ settled }) => settled),
      both(({ ended }) => ended),
      both(({ transactions }) => transactions),
      rounds.reduce((sum, { unsettled }) => sum + unsettled, 0),
    ])
    progress(`${each.tenants} tenants, ${each.transactionMilliseconds} ms a transaction: ${rows.at(-1)?.join(' | ')}`)
  }
  const head = ['tenants', 'ms a transaction', 'rounds', 'settled ms', 'ended ms', 'transactions', 'not settled']
  return `## Shutdown with ${STREAMS} open streams\n\nMedian and most of all rounds.\n\n${markdownTable(head, rows)}`
}

async function shutDownAgainAndAgain(
  { tenants: count, transactionMilliseconds }: ShutdownCase,
  rounds: number,
): Promise<readonly Shutdown[]> {
  const bundle = bundleRelayServer()
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-shutdown-')), 'gateway.json')
  const [engine, upstream] = await Promise.all([
    startTestTable(),
    startEchoUpstream({ events: Number.POSITIVE_INFINITY, pauseMilliseconds: () => EVENT_MILLISECONDS }),
  ])
  const proxy = await startTableProxy(engine.endpoint, { transactionMilliseconds })
  try {
    writeTrafficConfig(configFile, upstream.origin)
    const tenants = await makeTrafficTenants(engine.table, { count, isRateLimited: false })
    const environment = { tableEndpoint: proxy.endpoint, tableName: engine.table.name, configFile }
    const found: Shutdown[] = []
    for (let round = 0; round < rounds; round += 1) {
      const gateway = await startRelayProcess(bundle, environment)
      found.push(await shutDown({ gateway, proxy, tenants, table: engine.table }))
    }
    const broken = await verifyLedger(engine.table)
    if (broken.length > 0) {
      throw new Error(`the ledger is broken: ${broken.map(({ message }) => message).join('; ')}`)
    }
    return found
  } finally {
    await proxy.close()
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(join(configFile, '..'), { recursive: true })
  }
}

type Running = {
  readonly gateway: RelayProcess
  readonly proxy: TableProxy
  readonly tenants: readonly TrafficTenant[]
  readonly table: Table
}

/** Opens the streams, lets them run, and tells the process to stop. */
async function shutDown({ gateway, proxy, tenants, table }: Running): Promise<Shutdown> {
  const rowsBefore = await settledRows(table, tenants)
  const { port } = new URL(gateway.origin)
  const held: HeldStream[] = await Promise.all(
    Array.from({ length: STREAMS }, (_, request) => {
      const mark = { tenant: request % tenants.length, request }
      return holdStream({ port: Number(port), key: tenants[mark.tenant]?.key ?? '', mark, reads: true })
    }),
  )
  await delay(OPEN_MILLISECONDS)
  const transactionsBefore = proxy.counts.transactions
  const began = performance.now()
  const exitCode = await gateway.stop()
  const ended = performance.now() - began
  for (const { socket } of held) {
    socket.destroy()
  }
  if (exitCode !== 0) {
    throw new Error(`the relay server ended with ${exitCode}`)
  }
  return {
    settled: proxy.counts.lastTransactionAt - began,
    ended,
    transactions: proxy.counts.transactions - transactionsBefore,
    unsettled: STREAMS - ((await settledRows(table, tenants)) - rowsBefore),
  }
}

async function settledRows(table: Table, tenants: readonly TrafficTenant[]): Promise<number> {
  const rows = await Promise.all(tenants.map(({ id }) => readLedgerRows(table, id)))
  return rows.flat().filter(({ kind }) => kind === 'settle').length
}
