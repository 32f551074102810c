import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { formatCredits, microcredits, parseCredits } from '#core/money.ts'
import { readLedgerRows, streamLedgerRows } from '#lambdas/admin/read-ledger.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { adjustTenant, grantTenant } from '#store/tenants/credits.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import { ledgerExport, ledgerShow, ledgerVerify } from '../../../lib/cli/admin/ledger.ts'
import { ledgerStatement } from '../../../lib/cli/admin/statement.ts'
import { tenantShow } from '../../../lib/cli/admin/tenants.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob, TESTER, type TestTenant } from '../../engines/video-jobs.ts'
import {
  openRelayingTenant,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from '../../store/relay-ledger/relaying-tenant.ts'
import { runCommand } from './run-command.ts'

describe('ledger commands', () => {
  const engine = useTestTable()
  let table: TableWithClient
  let tenant: TestTenant
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openTenant(table)
  })

  describe('ledger', () => {
    it('shows the newest entries of the tenant, as many as asked for', async () => {
      const job = await reserveJob(table, tenant, { createdAt: Math.trunc(Date.now() / 1000) + 60 })
      const options = { tenant: tenant.tenantId }
      const all = await runCommand(ledgerShow, { table, options })
      expect(all.json).toMatchObject({
        entries: [
          { kind: 'reserve', job: job.jobId },
          { kind: 'grant', amount: '100' },
        ],
      })
      expect(all.text.split('\n')[0]).toMatch(/^AT +KIND +AMOUNT +ACTUAL +JOB +/)
      const newest = await runCommand(ledgerShow, { table, options: { ...options, limit: '1' } })
      expect(newest.json).toMatchObject({ entries: [{ kind: 'reserve' }] })
      expect(newest.text.split('\n')).toHaveLength(2)
    })

    it('refuses a tenant that does not exist', async () => {
      await expect(runCommand(ledgerShow, { table, options: { tenant: 'nobody' } })).rejects.toThrow('no tenant nobody')
    })
  })

  describe('ledger statement', () => {
    const statement = async (more: Readonly<Record<string, string>> = {}) =>
      await runCommand(ledgerStatement, { table, options: { tenant: tenant.tenantId, ...more } })

    it.each(['2026-11-28', '2026-11-01'])(
      'refuses a period that ends before the day after its first, at %s',
      async (to) => {
        await expect(statement({ from: '2026-11-28', to })).rejects.toThrow(
          `--to ${to}: use a time after --from 2026-11-28; rows before it count`,
        )
      },
    )

    it('leads from the opening to the closing balance, which is what is available and held', async () => {
      const relaying = await openRelayingTenant(table)
      tenant = relaying
      const ledger = new RelayLedger(table)
      const request = relaying.request('1')
      await ledger.reserve(request)
      await ledger.resolve(request, settle('0.25'))
      await reserveJob(table, tenant)
      const adjustment = {
        id: 'ticket-1',
        amount: parseCredits('2'),
        reason: 'refund',
        isDebtAllowed: false,
        actor: TESTER,
      }
      await adjustTenant(table, tenant.tenantId, adjustment)
      const { json, text } = await statement()
      const { available, held } = Object(
        (await runCommand(tenantShow, { table, options: { tenant: tenant.tenantId } })).json,
      )
      const closing = formatCredits(microcredits(parseCredits(available) + parseCredits(held)))
      expect(json).toMatchObject({
        ...{ opening_balance: '0', closing_balance: closing },
        lines: [
          { what: 'granted', rows: 1, amount: '100' },
          { what: 'adjusted', rows: 1, amount: '2' },
          { what: 'spent', rows: 1, amount: '-0.25' },
        ],
      })
      expect(closing).toBe('101.75')
      expect(text).toMatch(/closing balance +- +101\.75/)
    })

    it('counts a request on the day on which it began, as the console does', async () => {
      const relaying = await openRelayingTenant(table)
      tenant = relaying
      const ledger = new RelayLedger(table)
      const request = relaying.request('1', { requestId: uuidv7({ msecs: Date.now() - 60_000 }) })
      await ledger.reserve(request)
      await ledger.resolve(request, settle('0.25'))
      const { json } = await statement({ from: new Date(Date.now() - 30_000).toISOString() })
      expect(json).toMatchObject({ opening_balance: '-0.25', closing_balance: '99.75' })
    })

    it('begins a period with what moved before it', async () => {
      const later = new Date(Date.now() + 60_000).toISOString()
      const [before, after] = [await statement({ to: later }), await statement({ from: later })]
      expect(before.json).toMatchObject({ opening_balance: '0', closing_balance: '100' })
      expect(after.json).toMatchObject({ opening_balance: '100', closing_balance: '100', from: later, to: null })
      expect(Object(after.json).lines).toEqual(
        ['granted', 'adjusted', 'spent'].map((what) => ({ what, rows: 0, amount: '0' })),
      )
    })
  })

  describe('ledger-commands: ledger verify', () => {
    it('is ok where every invariant holds', async () => {
      await reserveJob(table, tenant)
      const answer = await runCommand(ledgerVerify, { table })
      expect(answer).toMatchObject({ json: { ok: true, broken: [] }, text: 'every invariant holds', isOk: true })
    })

    it('names what is broken and its tenant, of one tenant if asked, and is not ok', async () => {
      const job = await reserveJob(table, tenant)
      await table.client.send(
        new DeleteCommand({ TableName: table.name, Key: tableKeys.ledgerReserve(tenant.tenantId, job.jobId) }),
      )
      const answer = await runCommand(ledgerVerify, { table, options: { tenant: tenant.tenantId } })
      expect(answer).toMatchObject({ json: { ok: false }, isOk: false })
      expect(answer.text).toContain(`${tenant.tenantId}: `)
      const other = (await openTenant(table)).tenantId
      expect(await runCommand(ledgerVerify, { table, options: { tenant: other } })).toMatchObject({ isOk: true })
    })
  })
})

describe('the exported ledger', () => {
  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  let tenant: RelayingTenant
  let ledger: RelayLedger
  beforeEach(async () => {
    const { table: fresh, lean } = await engine.fresh()
    table = fresh
    tenant = await openRelayingTenant(table, '100')
    ledger = new RelayLedger(lean)
  })

  async function relay(credits: string, resolution?: Parameters<RelayLedger['resolve']>[1]) {
    const request = tenant.request(credits)
    await ledger.reserve(request)
    if (resolution !== undefined) {
      await ledger.resolve(request, resolution)
    }
    return request.requestId
  }

  async function exported(options: Record<string, string | true>, json = false): Promise<string> {
    let written = ''
    const write = async (text: string) => {
      written += text
    }
    const answer = await runCommand(ledgerExport, { table, json, write, options })
    expect(answer.json).toBeUndefined()
    return written
  }

  const lines = (text: string) => text.trimEnd().split('\r\n')

  it('has a header and a line per entry, the same entries that the ledger shows, with exact amounts', async () => {
    await relay('3', settle('1.250001'))
    await relay('2', RELEASE)
    await relay('1', settle('1', true))
    await relay('0.000001')
    const job = await reserveJob(table, tenant)
    const [header, ...rows] = lines(await exported({ tenant: tenant.tenantId }))
    expect(header).toBe(
      'tenant,tenant_name,at,kind,job,amount,actual,estimated,model,operation,key,channel,input_tokens,cached_input_tokens,cache_write_tokens,output_tokens,video_seconds,images,counted,id,reason',
    )
    const shown = (await readLedgerRows(table, tenant.tenantId)).map(({ at, kind, job: id }) =>
      [new Date(at).toISOString(), kind, id ?? ''].join(),
    )
    expect(rows.map((row) => row.split(',').slice(2, 5).join()).toSorted()).toEqual(shown.toSorted())
    const kinds = rows.map((row) => row.split(',').slice(3, 8).join())
    expect(kinds).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^settle,[^,]+,3,1\.250001,$/),
        expect.stringMatching(/^release,[^,]+,2,,$/),
        expect.stringMatching(/^settle,[^,]+,1,1,true$/),
        expect.stringMatching(/^reserve,[^,]+,0\.000001,,$/),
        `reserve,${job.jobId},0.7,,`,
        'grant,,100,,',
      ]),
    )
  })

  it('shows a request that is resolved between the two reads with each entry once', async () => {
    const request = tenant.request('2')
    await ledger.reserve(request)
    let queries = 0
    table.client.middlewareStack.add((next) => async (command) => {
      queries += 1
      if (queries === 2) {
        await ledger.resolve(request, settle('1'))
      }
      return await next(command)
    })
    const rows: string[] = []
    for await (const { job, kind } of streamLedgerRows(table, tenant.tenantId)) {
      rows.push(`${kind} ${job ?? ''}`)
    }
    expect(rows).toEqual([`reserve ${request.requestId}`, `settle ${request.requestId}`, 'grant '])
  })

  it('is of every tenant with --all, and of the time between --from and --to, which is left out', async () => {
    const nowMilliseconds = Date.parse('2026-10-31T23:59:59.999Z')
    const old = { id: 'old', name: 'Old, "Inc"', webhookSecret: 'x', credits: parseCredits('5'), grantId: 'g' }
    await createTenant(table, { ...old, nowMilliseconds }, TESTER)
    const all = lines(await exported({ all: true }))
    expect(all).toContain('old,"Old, ""Inc""",2026-10-31T23:59:59.999Z,grant,,5,,,,,,,,,,,,,,g,')
    expect(all).toHaveLength(3)
    expect(lines(await exported({ all: true, from: '2026-11-01' }))).toHaveLength(2)
    expect(lines(await exported({ all: true, to: '2026-11-01' }))).toHaveLength(2)
    expect(lines(await exported({ tenant: 'old', to: '2026-10-31T23:59:59.999Z' }))).toHaveLength(1)
  })

  it('has the id of grants and adjustments, and the reason of an adjustment, as a string for a spreadsheet', async () => {
    const by = { isDebtAllowed: false, actor: TESTER }
    const adjustment = { id: 'ticket-1', amount: microcredits(-5_000_000), reason: '=1+1, "twice"', ...by }
    await adjustTenant(table, tenant.tenantId, adjustment)
    const rows = lines(await exported({ tenant: tenant.tenantId }))
    expect(rows.find((row) => row.includes(',adjust,'))).toMatch(/,adjust,,-5,,,+ticket-1,"'=1\+1, ""twice"""$/)
    const json = (await exported({ tenant: tenant.tenantId }, true)).trimEnd().split('\n')
    expect(json.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ kind: 'adjust', amount: '-5', id: 'ticket-1', reason: '=1+1, "twice"' }),
    )
  })

  it('is a line of JSON per entry for programs', async () => {
    const text = await exported({ tenant: tenant.tenantId }, true)
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      {
        tenant: tenant.tenantId,
        tenant_name: expect.any(String),
        at: expect.any(String),
        kind: 'grant',
        job: null,
        amount: '100',
        actual: null,
        estimated: false,
        model: null,
        operation: null,
        key: null,
        channel: null,
        usage: null,
        counted: false,
        id: 'first',
        reason: null,
      },
    ])
  })

  it('says what a settlement was for, and that it is counted', async () => {
    const usage = { inputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 3, outputTokens: 4, images: 5 }
    const about = { model: 'm', operation: 'create-image', keyId: 'key1', channel: 'main', counted: true }
    const row = { kind: 'settle', job: 'job1', amount: 7, actual: 3, at: 0, ...about }
    const key = tableKeys.ledgerResolution(tenant.tenantId, 'job1')
    const Item = { ...key, ...row, usage: { ...usage, videoMilliseconds: 5_040 } }
    await table.client.send(new PutCommand({ TableName: table.name, Item }))
    const [, line = ''] = lines(await exported({ tenant: tenant.tenantId, to: '1970-01-02' }))
    expect(line.split(',').slice(4).join()).toBe(
      'job1,0.000007,0.000003,,m,create-image,key1,main,1,2,3,4,5.04,5,true,,',
    )
    const json = JSON.parse(await exported({ tenant: tenant.tenantId, to: '1970-01-02' }, true))
    expect(json).toMatchObject({ counted: true, key: 'key1', usage: { cached_input_tokens: 2, video_seconds: 5.04 } })
  })

  it('waits for its reader and holds no more than a line beyond 64 KB', async () => {
    const credits = parseCredits('1')
    const wide = {
      id: 'wide',
      name: 'x'.repeat(70_000),
      webhookSecret: 'x',
      credits,
      grantId: 'g0',
      nowMilliseconds: 1,
    }
    await createTenant(table, wide, TESTER)
    for (const id of ['g1', 'g2']) {
      await grantTenant(table, 'wide', { id, credits, actor: TESTER })
    }
    const sizes: number[] = []
    let isTaken = true
    const write = async (text: string) => {
      expect(isTaken).toBe(true)
      isTaken = false
      sizes.push(text.length)
      await new Promise((resolve) => setImmediate(resolve))
      isTaken = true
    }
    await runCommand(ledgerExport, { table, write, options: { tenant: 'wide' } })
    expect(sizes.filter((size) => size > 0)).toHaveLength(3)
  })

  it.each([
    [{}, 'use --tenant or --all'],
    [{ tenant: 'x', all: true as const }, 'use --tenant or --all'],
    [{ all: true as const, from: 'today' }, '--from today: use a date'],
    [{ tenant: 'nobody' }, 'no tenant nobody'],
  ])('is refused with %j', async (options, sentence) => {
    await expect(exported(options)).rejects.toThrow(sentence)
  })
})
