import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '#adapters/clock.ts'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { CallerDirectory } from '#adapters/store/accounts/caller-directory.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { readReceiptRows } from '#adapters/store/money/receipt-rows.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { streamUsageCounters } from '#adapters/store/money/usage-counters.ts'
import { InvalidApiKeyError } from '#core/errors.ts'
import { formatCredits, parseCredits } from '#core/money/money.ts'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { addUsageSums, NO_USAGE, type UsageCounter } from '#core/quota/usage-counter.ts'
import { videoReceipt } from '#core/quota/video-receipt.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { ledgerExport } from '../../lib/admin/ledger/ledger-export.ts'
import { backfillUsage } from '../../lib/admin/usage/backfill-usage.ts'
import { settleEarlier } from '../adapters/store/money/earlier-reservations.ts'
import { runCommand } from '../admin/command-line/run-command.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { EARLIER_TABLE, earlierItems, fillEarlierTable } from '../engines/earlier-table.ts'
import { inTurn, running } from '../engines/scripted-upstream.ts'
import { type Recovery, startRecovery } from '../engines/start-recovery.ts'
import type { TableWithClient } from '../engines/table-with-client.ts'
import { ESTIMATE, reserveJob } from '../engines/video-jobs.ts'

const { tenants, acme, openVideos, openRequests, settledVideo, settlements } = EARLIER_TABLE
const [OPEN_VIDEO] = openVideos
const [OPEN_REQUEST] = openRequests
const DEMO_DIGEST = sha256Hex(EARLIER_TABLE.demoKey)

let recovery: Recovery
let pipeline: Pipeline
let table: TableWithClient
beforeAll(async () => {
  recovery = await startRecovery()
})
afterAll(() => recovery.close())

/** The current version over that table, on the day when it was written. */
beforeEach(async () => {
  pipeline = await recovery.openPipeline({ channels: { main: { id: 'p1-main' } } })
  table = pipeline.context.table
  pipeline.clock.milliseconds = EARLIER_TABLE.milliseconds
  await fillEarlierTable(table)
})
afterEach(async () => {
  expect(await verifyLedger(table)).toEqual([])
})

async function backfill(of: Pick<TableWithClient, 'transact' | 'queryPage'> = table): Promise<number> {
  let counted = 0
  for (const tenantId of tenants) {
    for await (const rows of backfillUsage({ ...table, ...of }, tenantId)) {
      counted += rows
    }
  }
  return counted
}

async function counters(tenantId: string): Promise<UsageCounter[]> {
  const found: UsageCounter[] = []
  for await (const counter of streamUsageCounters(table, tenantId)) {
    found.push(counter)
  }
  return found
}

/** The cost of the counters of each tenant, and what its balance has spent. */
async function costs(): Promise<{ readonly counted: readonly string[]; readonly spent: readonly string[] }> {
  const counted: string[] = []
  const spent: string[] = []
  for (const tenantId of tenants) {
    const sums = (await counters(tenantId)).reduce<typeof NO_USAGE>(addUsageSums, NO_USAGE)
    counted.push(formatCredits(sums.cost))
    spent.push(formatCredits((await getTenant(table, tenantId)).balance.spent))
  }
  return { counted, spent }
}

const held = async () =>
  await Promise.all(tenants.map(async (id) => formatCredits((await getTenant(table, id)).balance.held)))

/** Relays a request by the demo key of version 0.2.0, as the current version does. */
async function relay(): Promise<void> {
  const { tenantId, keyDigest, keyId, revision, budget } = await new CallerDirectory(table).confirm(DEMO_DIGEST)
  const clock = { ...systemClock, nowMilliseconds: () => pipeline.clock.milliseconds }
  const ledger = new RelayLedger(table, { clock })
  const reservation = {
    ...{ tenantId, keyDigest, keyId, keyRevision: revision, budget },
    ...{ requestId: crypto.randomUUID(), model: 'chat-default', operation: 'create-chat-completion' },
    ...{ amount: parseCredits('0.5'), reservedAt: pipeline.clock.milliseconds },
  }
  await ledger.reserve(reservation)
  const usage = countedUsage({ inputTokens: 7, outputTokens: 11 })
  await ledger.resolve(reservation, { kind: 'settle', actual: parseCredits('0.25'), estimated: false, usage })
}

/** Runs executions of open videos, which Reconcile finds after some seconds, to their end. */
async function endOpenVideos(seconds = 61): Promise<void> {
  const machine = recovery.useMachine(pipeline)
  await recovery.reconcileAfter(pipeline, seconds)
  await Promise.all(openVideos.map(({ jobId }) => machine.engine.whenEnded(jobId)))
}

describe('the table of version 0.2.0, read by the current version', () => {
  it('is in order, holds what was open, and counts nothing', async () => {
    expect(await held()).toEqual(['0.700044', '0.70009'])
    expect((await costs()).counted).toEqual(['0', '0'])
  })

  it('has keys that work, and a revoked key that does not', async () => {
    const keys = new CallerDirectory(table)
    expect(await keys.confirm(DEMO_DIGEST)).toMatchObject({ tenantId: 'demo', models: null })
    await expect(keys.confirm(EARLIER_TABLE.revokedKeyDigest)).rejects.toThrow(InvalidApiKeyError)
  })

  it('has receipts with what was recorded', async () => {
    const { jobId } = settledVideo
    const rows = await readReceiptRows(table, settledVideo)
    expect(rows && videoReceipt(jobId, rows)).toMatchObject({
      model: 'unknown',
      billing: 'unknown',
      estimate: '0.28435',
      cost: '0.259545',
      lines: [{ what: 'video', quantity: null, unit: null, unit_price: null, amount: '0.259545' }],
    })
  })

  it.each([false, true])('is exported with every row; as lines of JSON: %j', async (json) => {
    let written = ''
    const write = async (text: string) => {
      written += text
    }
    await runCommand(ledgerExport, { table, json, write, options: { tenant: acme } })
    const lines = written.trimEnd().split(/\r?\n/)
    // Entries of three videos, of two resolved and two open requests, and of two grants. CSV has a header.
    expect(lines).toHaveLength(5 + 2 * 2 + 2 + 2 + (json ? 0 : 1))
    const settled = lines.filter((line) => line.includes(settledVideo.jobId) && line.includes('settle'))
    expect(settled).toEqual([
      json
        ? expect.stringContaining('"actual":"0.259545"')
        : expect.stringMatching(
            new RegExp(`^${acme},Acme,2026-11-22T19:37:16.423Z,settle,${settledVideo.jobId},0.28435,0.259545,+$`),
          ),
    ])
    expect(written).toContain('invoice-7')
  })
})

describe('the table of version 0.2.0, continued by the current version', () => {
  it('settles and counts open videos', async () => {
    await endOpenVideos()
    for (const video of openVideos) {
      expect(await pipeline.read(video)).toMatchObject({ status: 'succeeded' })
      // Three seconds at the price that the reservation has frozen.
      expect(await counters(video.tenantId)).toMatchObject([
        {
          keyId: 'unknown',
          operation: 'unknown',
          model: 'famB-1.1-t2v',
          requests: 1,
          videoMilliseconds: 3_000,
          cost: 420_000n,
        },
      ])
    }
    expect(await held()).toEqual(['0.000044', '0.00009'])
  })

  it('ends a video whose task fails without a charge', async () => {
    pipeline.upstream.script.poll = inTurn(running(), { kind: 'failed', message: 'no luck', text: '{}' })
    await endOpenVideos()
    expect(await pipeline.read(OPEN_VIDEO)).toMatchObject({ status: 'failed', error: 'no luck' })
    expect(await counters(acme)).toEqual([])
    expect(await held()).toEqual(['0.000044', '0.00009'])
  })

  it('releases open requests 16 minutes after their reservations, not before', async () => {
    await endOpenVideos(14 * 60)
    expect(await held()).toEqual(['0.000044', '0.00009'])
    await recovery.reconcileAfter(pipeline, 3 * 60)
    expect(await held()).toEqual(['0', '0'])
  })

  it('reserves and settles new requests and videos by an old key', async () => {
    await relay()
    const demo = { tenantId: 'demo', keyDigest: DEMO_DIGEST, webhookSecret: '' }
    const video = await reserveJob(table, demo, { createdAt: pipeline.clock.seconds })
    const machine = recovery.useMachine(pipeline)
    await machine.run(video)
    expect(await getVideoJob(table, 'demo', video.jobId)).toMatchObject({ status: 'succeeded', estimate: ESTIMATE })
    expect(await counters('demo')).toMatchObject([
      { keyId: '62af8704', operation: 'create-chat-completion', model: 'chat-default', requests: 1, cost: 250_000n },
      { keyId: '62af8704', operation: 'create-video-job', requests: 1, cost: 420_000n },
    ])
  })
})

describe('a backfill of the table of version 0.2.0', () => {
  it('counts each settlement once, on its own day, however often it runs', async () => {
    expect(await backfill()).toBe(settlements)
    expect(await verifyLedger(table)).toEqual([])
    expect(await backfill()).toBe(0)
    expect(await costs()).toEqual({ counted: ['0.720027', '0.259573'], spent: ['0.720027', '0.259573'] })
    const days = (await counters('demo')).map(({ day, model, requests }) => [day, model, requests])
    expect(days).toEqual([
      ['2026-10-13', 'chat-default', 1],
      ['2026-10-13', 'unknown', 1],
      ['2026-11-22', 'chat-default', 1],
      ['2026-11-22', 'image-v2', 1],
    ])
  })

  it.each([
    ['before its first transaction', 1, 'before'],
    ['after its first transaction', 1, 'after'],
    ['before its second transaction', 2, 'before'],
    ['after its second transaction', 2, 'after'],
  ])('goes on when it is repeated, where it was interrupted %s', async (_, nth, moment) => {
    let transactions = 0
    const transact: TableWithClient['transact'] = async (writes) => {
      transactions += 1
      const isBroken = transactions === nth
      if (!isBroken || moment === 'after') {
        await table.transact(writes)
      }
      if (isBroken) {
        throw new Error('killed')
      }
    }
    await expect(backfill({ ...table, transact })).rejects.toThrow('killed')
    expect(await verifyLedger(table)).toEqual([])
    await backfill()
    const { counted, spent } = await costs()
    expect(counted).toEqual(spent)
  })

  it('counts what is settled meanwhile once, by the current version and by functions of 0.2.0 that still run', async () => {
    let isFirst = true
    const settleOthers = async () => {
      if (isFirst) {
        isFirst = false
        await settleEarlier(table, OPEN_REQUEST, { credits: '0.00002', atMilliseconds: pipeline.clock.milliseconds })
        await relay()
        await endOpenVideos()
      }
    }
    const queryPage: TableWithClient['queryPage'] = async (query) => {
      const page = await table.queryPage(query)
      await settleOthers()
      return page
    }
    const transact: TableWithClient['transact'] = async (writes) => {
      await relay()
      await table.transact(writes)
    }
    await backfill({ queryPage, transact })
    expect(await verifyLedger(table)).toEqual([])
    // A row that 0.2.0 wrote behind the reader.
    await settleEarlier(table, openRequests[1], { credits: '0.00003', atMilliseconds: pipeline.clock.milliseconds })
    expect(await verifyLedger(table)).toEqual([])
    expect(await backfill()).toBeGreaterThan(0)
    expect(await backfill()).toBe(0)
    const { counted, spent } = await costs()
    expect(counted).toEqual(spent)
  })

  it('counts each settlement once beside a second backfill', async () => {
    const counts = await Promise.all([backfill(), backfill()])
    expect(counts.reduce((sum, count) => sum + count)).toBe(settlements)
    const { counted, spent } = await costs()
    expect(counted).toEqual(spent)
  })
})

describe('the fixture of version 0.2.0', () => {
  it('has no secret', () => {
    const all = JSON.stringify(earlierItems())
    expect(all.match(/rg_live_|Signature=|BEGIN /)).toBeNull()
    const secrets = [...all.matchAll(/whsec_([\w+/=]+)/g)].map(([, secret = '']) => atob(secret))
    expect(new Set(secrets)).toEqual(new Set(['test-secret-of-a-fixture']))
  })
})
