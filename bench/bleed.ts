import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { seededRandom } from '../test/engines/seeded-random.ts'
import { startTestTable } from '../test/engines/start-test-table.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { auditLedger, auditLog } from './traffic/audit-traffic.ts'
import { checkOutcome } from './traffic/check-outcome.ts'
import { startEchoUpstream } from './traffic/echo-upstream.ts'
import { bundleRelayServer, startRelayProcess } from './traffic/relay-process.ts'
import { RequestLog } from './traffic/request-log.ts'
import { runMixed } from './traffic/run-mixed.ts'
import { writeTrafficConfig } from './traffic/traffic-config.ts'
import { makeTrafficTenants } from './traffic/traffic-tenants.ts'

type BleedOptions = {
  readonly requests: number
  readonly tenants: number
  readonly connections: number
  readonly seed: number
  /** Hears how far the traffic is. */
  readonly progress?: MeasureOptions['progress']
}

/** What mixed traffic left behind. */
export type BleedFindings = {
  /** Everything that belongs to another request or tenant, or is missing; empty if nothing bled. */
  readonly broken: readonly string[]
  readonly whole: number
  readonly left: number
  readonly settled: number
  readonly released: number
  readonly seconds: number
}

/** Share of the clients that leave. */
const LEAVING_SHARE = 0.1

/** Requests between two lines that say how far the traffic is. */
const REQUESTS_OF_A_LINE = 10_000

const FULL: BleedOptions = { requests: 100_000, tenants: 50, connections: 64, seed: 1 }
const QUICK: BleedOptions = { ...FULL, requests: 5_000 }

/** Mixed requests of many tenants through one relay server: nothing of one is seen by another. */
export async function measureBleed({ quick, progress }: MeasureOptions): Promise<string> {
  const options = quick ? QUICK : FULL
  const { broken, whole, left, settled, released, seconds } = await findBleed({ ...options, progress })
  for (const each of broken.slice(0, 20)) {
    progress(each)
  }
  const rows = [
    ['requests', options.requests],
    ['tenants', options.tenants],
    ['whole responses', whole],
    ['clients that left', left],
    ['ledger rows settled', settled],
    ['ledger rows released', released],
    ['seconds', seconds.toFixed(0)],
    ['found at another request or tenant, or missing', broken.length],
  ]
  return `## Bleed\n\n${markdownTable(
    ['what', 'count'],
    rows.map((row) => row.map(String)),
  )}`
}

/** Sends the traffic, and compares every response, log line and ledger row with the request that it belongs to. */
export async function findBleed(options: BleedOptions): Promise<BleedFindings> {
  const { requests, tenants: count, connections, seed, progress = () => undefined } = options
  const bundle = bundleRelayServer()
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-bleed-')), 'gateway.json')
  const [engine, upstream] = await Promise.all([startTestTable(), startEchoUpstream()])
  try {
    writeTrafficConfig(configFile, upstream.origin)
    const tenants = await makeTrafficTenants(engine.table, { count })
    const errors: string[] = []
    const log = new RequestLog((line) => errors.push(line))
    const environment = { tableEndpoint: engine.endpoint, tableName: engine.table.name, configFile }
    const gateway = await startRelayProcess(bundle, environment, (line) => log.push(line))
    const began = performance.now()
    const traffic = { origin: gateway.origin, tenants, requests, connections, leavingShare: LEAVING_SHARE }
    const onEnd = (ended: number) => {
      if (ended % REQUESTS_OF_A_LINE === 0) {
        progress(`${ended} requests, ${((performance.now() - began) / 1_000).toFixed(0)} s`)
      }
    }
    const outcomes = await runMixed({ ...traffic, random: seededRandom(seed), onEnd })
    const seconds = (performance.now() - began) / 1_000
    await gateway.stop()
    const ledger = await auditLedger(engine.table, { tenants, outcomes })
    const invariants = await verifyLedger(engine.table)
    return {
      broken: [
        ...outcomes.flatMap((outcome) => checkOutcome(outcome).map((broken) => `${outcome.kind}: ${broken}`)),
        ...auditLog({ tenants, outcomes, log }),
        ...ledger.broken,
        ...invariants.map(({ tenant, message }) => `${tenant}: ${message}`),
        ...errors,
      ],
      whole: outcomes.filter(({ end }) => end === 'whole').length,
      left: outcomes.filter(({ end }) => end === 'left').length,
      settled: ledger.settled,
      released: ledger.released,
      seconds,
    }
  } finally {
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(join(configFile, '..'), { recursive: true })
  }
}
