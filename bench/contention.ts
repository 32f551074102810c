import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { seededRandom } from '../test/engines/seeded-random.ts'
import { startTestTable } from '../test/engines/start-test-table.ts'
import { type ChatLoad, runChats } from './contention/chat-load.ts'
import { type ContentionFindings, renderContention } from './contention/contention-report.ts'
import type { MeasureOptions } from './measurement.ts'
import { randomFaults } from './soak/soak-faults.ts'
import { startEchoUpstream } from './traffic/echo-upstream.ts'
import { bundleRelayServer, type RelayProcess, startRelayProcess } from './traffic/relay-process.ts'
import { startTableProxy } from './traffic/table-proxy.ts'
import { writeTrafficConfig } from './traffic/traffic-config.ts'
import { makeTrafficTenants } from './traffic/traffic-tenants.ts'

/** What a transaction takes before it reaches the table. */
const TRANSACTION_MILLISECONDS = 8

/** Share of the transactions that meet a conflict or throttling for no reason of ours. */
const FAULT_SHARE = 0.02

/** What each case does: chats of one tenant. */
type ContentionCase = {
  readonly processes: number
  /** Chats a second of all processes together. */
  readonly perSecond: number
  /** How long the upstream takes. */
  readonly chatMilliseconds: number
}

const FULL_SECONDS = 20
const QUICK_SECONDS = 5

const CASES: readonly ContentionCase[] = [
  { processes: 1, perSecond: 100, chatMilliseconds: 500 },
  { processes: 1, perSecond: 300, chatMilliseconds: 500 },
  { processes: 2, perSecond: 100, chatMilliseconds: 500 },
  { processes: 5, perSecond: 100, chatMilliseconds: 500 },
  { processes: 10, perSecond: 10, chatMilliseconds: 500 },
  { processes: 10, perSecond: 20, chatMilliseconds: 500 },
  { processes: 10, perSecond: 50, chatMilliseconds: 500 },
  { processes: 10, perSecond: 100, chatMilliseconds: 500 },
]

/** Chats of one tenant in one process and in ten, while every transaction takes as long as a real one and meets the others. */
export async function measureContention({ quick, progress }: MeasureOptions): Promise<string> {
  const found: ContentionFindings[] = []
  for (const each of CASES) {
    found.push(await contend({ ...each, seconds: quick ? QUICK_SECONDS : FULL_SECONDS }))
    const last = found.at(-1)
    progress(
      `${each.processes} processes, ${each.perSecond} a second: ${last?.served} served, ${last?.refused} refused`,
    )
  }
  return `## Contention\n\n${renderContention(found)}`
}

/** Runs one case over a table of its own. */
export async function contend(options: ContentionCase & { readonly seconds: number }): Promise<ContentionFindings> {
  const { processes, perSecond, chatMilliseconds, seconds } = options
  const faults = randomFaults(FAULT_SHARE, seededRandom(1), ['conflict', 'throttled'])
  const [engine, upstream] = await Promise.all([
    startTestTable(),
    startEchoUpstream({ pauseMilliseconds: () => chatMilliseconds }),
  ])
  const proxy = await startTableProxy(engine.endpoint, {
    transactionMilliseconds: TRANSACTION_MILLISECONDS,
    refusesOverlaps: true,
    fault: faults.table,
  })
  const bundle = bundleRelayServer()
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-contention-')), 'gateway.json')
  writeTrafficConfig(configFile, upstream.origin)
  const gateways: RelayProcess[] = []
  try {
    const [tenant] = await makeTrafficTenants(engine.table, { count: 1, isRateLimited: false })
    const environment = { tableEndpoint: proxy.endpoint, tableName: engine.table.name, configFile }
    for (let index = 0; index < processes; index += 1) {
      gateways.push(await startRelayProcess(bundle, environment))
    }
    const key = tenant?.key ?? ''
    const load: ChatLoad = { origins: gateways.map(({ origin }) => origin), key, perSecond, seconds }
    // Code is compiled, and the key is read, before anything is measured.
    await runChats({ ...load, perSecond: processes * 5, seconds: 1 })
    const before = { ...proxy.counts }
    const chats = await runChats(load)
    const { transactions, conflicts } = proxy.counts
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    const broken = await verifyLedger(engine.table)
    return {
      ...options,
      ...chats,
      transactions: transactions - before.transactions,
      conflicts: conflicts - before.conflicts,
      broken: broken.map(({ message }) => message),
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()))
    await proxy.close()
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(join(configFile, '..'), { recursive: true })
  }
}
