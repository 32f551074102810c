import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { startTestTable } from '../engines/start-test-table.ts'
import { auditLedger, auditLog, checkOutcome, RequestLog } from '../traffic/audit-traffic.ts'
import { startEchoUpstream } from '../traffic/echo-upstream.ts'
import { bundleRelayServer, startRelayProcess } from '../traffic/relay-process.ts'
import { runMixed } from '../traffic/send-marked.ts'
import { makeTrafficTenants, writeTrafficConfig } from '../traffic/traffic-stage.ts'

/** Of 100,000 requests, on 2026-11-23, nothing was found either. */
const REQUESTS = 1_200
const TENANTS = 50
const CONNECTIONS = 32
/** Share of the clients that leave. */
const LEAVING_SHARE = 0.1

/** Sends the traffic through one relay server, and compares every response, log line and ledger row with the request that it belongs to. */
async function findBleed() {
  const bundle = bundleRelayServer()
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-bleed-')), 'gateway.json')
  const [engine, upstream] = await Promise.all([startTestTable(), startEchoUpstream()])
  try {
    writeTrafficConfig(configFile, upstream.origin)
    const tenants = await makeTrafficTenants(engine.table, { count: TENANTS })
    const errors: string[] = []
    const log = new RequestLog((line) => errors.push(line))
    const environment = { tableEndpoint: engine.endpoint, tableName: engine.table.name, configFile }
    const gateway = await startRelayProcess(bundle, environment, (line) => log.push(line))
    const traffic = { origin: gateway.origin, tenants, requests: REQUESTS, connections: CONNECTIONS }
    const outcomes = await runMixed({ ...traffic, leavingShare: LEAVING_SHARE, random: seededRandom(7) })
    await gateway.stop()
    const ledger = await auditLedger(engine.table, { tenants, outcomes })
    const invariants = await verifyLedger(engine.table)
    const broken = [
      ...outcomes.flatMap((outcome) => checkOutcome(outcome).map((each) => `${outcome.kind}: ${each}`)),
      ...auditLog({ tenants, outcomes, log }),
      ...ledger.broken,
      ...invariants.map(({ tenant, message }) => `${tenant}: ${message}`),
      ...errors,
    ]
    return { broken, ended: outcomes.length, settled: ledger.settled }
  } finally {
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(join(configFile, '..'), { recursive: true })
  }
}

describe('mixed requests of many tenants, some of whose clients leave', () => {
  it('each have their own response, headers, log line and ledger row, and the ledger is in order', async () => {
    const { broken, ended, settled } = await findBleed()
    expect(broken).toEqual([])
    expect(ended).toBe(REQUESTS)
    expect(settled).toBeGreaterThan(REQUESTS / 2)
  })
})
