import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { startTestTable } from '../engines/start-test-table.ts'
import { startEchoUpstream } from '../traffic/echo-upstream.ts'
import { bundleRelayServer, type RelayProcess, startRelayProcess } from '../traffic/relay-process.ts'
import { sendMarked } from '../traffic/send-marked.ts'
import { startTableProxy } from '../traffic/table-proxy.ts'
import { makeTrafficTenants, writeTrafficConfig } from '../traffic/traffic-stage.ts'

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
