import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { startTestTable } from '../engines/test-table.ts'
import { auditLedger, auditLog, checkOutcome, RequestLog } from '../traffic/audit-traffic.ts'
import { makeTrafficTenants, runMixed, sendMarked, writeTrafficConfig } from '../traffic/marked-traffic.ts'
import { bundleRelayServer, type RelayProcess, startRelayProcess } from '../traffic/relay-process.ts'
import { startEchoUpstream, startTableProxy } from '../traffic/traffic-servers.ts'

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

const PROCESSES = 3
/** Chats in a second, of all processes together. */
const CHATS = 60
/** What a transaction takes before it reaches the table. */
const TRANSACTION_MILLISECONDS = 8
/** Share of the transactions that meet a conflict or throttling for no reason of ours. */
const FAULT_SHARE = 0.02

/** Sends chats at an even rate, to one process after the other. @returns the processes that served one, by their place. */
async function runChats(origins: readonly string[], key: string, chats: number): Promise<(number | undefined)[]> {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  const sent: Promise<number | undefined>[] = []
  for (let request = 0; request < chats; request += 1) {
    await delay(Math.max(0, began + (request / CHATS) * 1_000 - performance.now()))
    const process = request % origins.length
    const chat = { mark: { tenant: 0, request }, kind: 'chat', key, leaving: undefined } as const
    sent.push(
      sendMarked(origins[process] ?? '', agent, chat).then(({ status }) => (status === 200 ? process : undefined)),
    )
  }
  const served = await Promise.all(sent)
  agent.destroy()
  return served
}

async function contend() {
  const random = seededRandom(1)
  const [engine, upstream] = await Promise.all([startTestTable(), startEchoUpstream({ pauseMilliseconds: () => 50 })])
  const proxy = await startTableProxy(engine.endpoint, {
    transactionMilliseconds: TRANSACTION_MILLISECONDS,
    refusesOverlaps: true,
    fault: () => (random() < FAULT_SHARE ? (random() < 0.5 ? 'conflict' : 'throttled') : undefined),
  })
  const bundle = bundleRelayServer()
  const configFile = join(mkdtempSync(join(tmpdir(), 'reelgate-contention-')), 'gateway.json')
  writeTrafficConfig(configFile, upstream.origin)
  const gateways: RelayProcess[] = []
  try {
    const [tenant] = await makeTrafficTenants(engine.table, { count: 1, isRateLimited: false })
    const environment = { tableEndpoint: proxy.endpoint, tableName: engine.table.name, configFile }
    for (let index = 0; index < PROCESSES; index += 1) {
      gateways.push(await startRelayProcess(bundle, environment))
    }
    const origins = gateways.map(({ origin }) => origin)
    // The key is read and code is compiled first: the chats after that meet each other.
    await runChats(origins, tenant?.key ?? '', PROCESSES * 5)
    const before = proxy.counts.conflicts
    const served = await runChats(origins, tenant?.key ?? '', CHATS)
    const conflicts = proxy.counts.conflicts - before
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    return { served, conflicts, broken: await verifyLedger(engine.table) }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()))
    await proxy.close()
    await Promise.all([engine.close(), upstream.close()])
    bundle.remove()
    rmSync(join(configFile, '..'), { recursive: true })
  }
}

describe('chats of one tenant, while transactions take eight milliseconds and refuse each other', () => {
  it('are served by each of several processes, and the ledger is in order', async () => {
    const { served, conflicts, broken } = await contend()
    expect(broken).toEqual([])
    expect(conflicts).toBeGreaterThan(0)
    for (let process = 0; process < PROCESSES; process += 1) {
      expect(served.filter((each) => each === process).length).toBeGreaterThan(5)
    }
  })
})
