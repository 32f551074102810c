import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { formatCredits, type Microcredits } from '#core/money/money.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { reconcileRequests } from '../test/engines/reconcile-requests.ts'
import { seededRandom } from '../test/engines/seeded-random.ts'
import { startTestTable } from '../test/engines/start-test-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { SoakClients } from './soak/soak-clients.ts'
import { randomFaults } from './soak/soak-faults.ts'
import { SoakGateway } from './soak/soak-gateway.ts'
import { renderSoak, type SoakFindings } from './soak/soak-report.ts'
import { auditLedger } from './traffic/audit-traffic.ts'
import { startEchoUpstream } from './traffic/echo-upstream.ts'
import { growthOf } from './traffic/growth.ts'
import { bundleRelayServer } from './traffic/relay-process.ts'
import { startTableProxy } from './traffic/table-proxy.ts'
import { writeTrafficConfig } from './traffic/traffic-config.ts'
import { makeTrafficTenants, type TrafficTenant } from './traffic/traffic-tenants.ts'

const STREAMS = 200
const TENANTS = 20
const FAULT_SHARE = 0.01
const MINUTES = 30
const QUICK_MINUTES = 1.5

/** Between two events of a stream: a stream of twelve events takes about ten seconds. */
const EVENT_MILLISECONDS = 800
const EVENTS = 12

/** When the gateway is killed, in parts of the whole time: its last life is the longest, and shows whether it grows. */
const KILLS = [0.1, 0.25]

const LOOK_MILLISECONDS = 10_000
const MINUTE = 60_000

/**
 * After the end of a response, an upstream may be read on for its usage, and a settlement may wait for company or for a table that is
 * away. A gateway that is killed meanwhile bills nothing.
 */
const SETTLING_MILLISECONDS_MAX = 62_000

/** Streams for half an hour with faults and kills: at the end the ledger is right, and the gateway has not grown. */
export async function measureSoak({ quick, minutes, progress }: MeasureOptions): Promise<string> {
  const findings = await soak({ minutes: minutes ?? (quick ? QUICK_MINUTES : MINUTES), streams: STREAMS, progress })
  return `## Soak\n\n${renderSoak(findings)}`
}

type SoakOptions = Pick<MeasureOptions, 'progress'> & { readonly minutes: number; readonly streams: number }

/** Runs the soak, and says what it found. */
export async function soak({ minutes, streams, progress }: SoakOptions): Promise<SoakFindings> {
  const random = seededRandom(1)
  const faults = randomFaults(FAULT_SHARE, random)
  const pauseMilliseconds = () => EVENT_MILLISECONDS * (0.5 + random())
  const [engine, upstream] = await Promise.all([
    startTestTable(),
    startEchoUpstream({ fault: faults.upstream, events: EVENTS, pauseMilliseconds }),
  ])
  const proxy = await startTableProxy(engine.endpoint, { fault: faults.table })
  const bundle = bundleRelayServer()
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-soak-'))
  const configFile = join(directory, 'gateway.json')
  writeTrafficConfig(configFile, upstream.origin)
  const catalogue = createCatalogue(JSON.parse(readFileSync(configFile, 'utf8')))
  const { table } = engine
  const gateway = new SoakGateway(bundle, { tableEndpoint: proxy.endpoint, tableName: table.name, configFile })
  try {
    const tenants = await makeTrafficTenants(table, { count: TENANTS })
    await gateway.start()
    const clients = new SoakClients({ streams, tenants, leavingShare: FAULT_SHARE, random })
    const began = performance.now()
    const running = clients.run(() => gateway.origin)
    await watch({ gateway, clients, minutes, progress, reconcile: () => reconcileRequests(table, catalogue) })
    clients.stop()
    await running
    faults.end()
    const exitCode = await gateway.stop()
    const heldBefore = await heldCredits(table, tenants)
    await reconcileRequests(table, catalogue, { isLast: true })
    const lost = (endedAt: number) =>
      gateway.downtimes.some(({ from }) => endedAt < from && endedAt > from - SETTLING_MILLISECONDS_MAX)
    const outcomes = clients.outcomes.map((outcome) =>
      (outcome.end === 'whole' && !outcome.isServed) || lost(outcome.endedAt)
        ? { ...outcome, end: 'broken' as const }
        : outcome,
    )
    return {
      minutes,
      streams,
      outcomes: clients.outcomes,
      foreign: clients.foreign,
      ledger: await auditLedger(table, { tenants, outcomes }),
      invariants: (await verifyLedger(table)).map(({ tenant, message }) => `${tenant}: ${message}`),
      heldBefore,
      heldAfter: await heldCredits(table, tenants),
      tableRequests: proxy.counts,
      logged: gateway.logged,
      exitCode,
      downtimes: gateway.downtimes,
      began,
      growth: growthOf(gateway.sizes),
    }
  } finally {
    await gateway.stop()
    await proxy.close()
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(directory, { recursive: true })
  }
}

type Watch = SoakOptions & {
  readonly gateway: SoakGateway
  readonly clients: SoakClients
  readonly reconcile: () => Promise<void>
}

/** Looks at the gateway until the time is over, kills it twice, and runs Reconcile each minute. */
async function watch({ gateway, clients, minutes, reconcile, progress }: Omit<Watch, 'streams'>): Promise<void> {
  const began = performance.now()
  const kills = KILLS.map((part) => part * minutes * MINUTE)
  let nextMinute = MINUTE
  for (let elapsed = 0; elapsed < minutes * MINUTE; elapsed = performance.now() - began) {
    await delay(Math.min(LOOK_MILLISECONDS, (minutes * MINUTE) / 40))
    if (elapsed > (kills[0] ?? Number.POSITIVE_INFINITY)) {
      kills.shift()
      progress('SIGKILL')
      await gateway.killAndStart()
    }
    const size = gateway.look()
    if (elapsed > nextMinute) {
      nextMinute += MINUTE
      await reconcile()
      const megabytes = ((size?.residentBytes ?? 0) / 1e6).toFixed(0)
      const served = clients.outcomes.filter(({ isServed }) => isServed).length
      progress(
        `${(elapsed / MINUTE).toFixed(0)} min: ${clients.outcomes.length} requests, ${served} served, ${megabytes} MB, ${size?.descriptors} descriptors`,
      )
    }
  }
}

async function heldCredits(table: Table, tenants: readonly TrafficTenant[]): Promise<string> {
  const all = await Promise.all(tenants.map(({ id }) => getTenant(table, id)))
  return formatCredits(all.reduce((sum, { balance }) => sum + balance.held, 0n) as Microcredits)
}
