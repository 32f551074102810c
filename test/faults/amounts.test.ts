import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { tenantCreate, tenantGrant } from '../../lib/cli/admin/tenants.ts'
import { UsageError } from '../../lib/cli/terminal.ts'
import { runCommand } from '../cli/admin/run-command.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { credits, openTenant, requireReservation, reserveJob } from '../engines/video-jobs.ts'
import { changedKeys, takeImage } from './faulty-table.ts'

describe('credit amounts at their limits', () => {
  const engine = useTestTable()

  /** A thousand million credits, which is 10^15 millionths. */
  const MOST = '1000000000'

  it.each(['-1', '-0.000001', '0.0000001', '1000000000.000001', '10000000000', '9'.repeat(39), '1e9', 'NaN', ' 1', ''])(
    'the admin commands refuse %j and write nothing',
    async (amount) => {
      const table = await engine.fresh()
      const { tenantId } = await openTenant(table)
      const before = await takeImage(table)
      await expect(runCommand(tenantCreate, { table, options: { name: 'Acme', credits: amount } })).rejects.toThrow(
        UsageError,
      )
      await expect(runCommand(tenantGrant, { table, options: { tenant: tenantId, credits: amount } })).rejects.toThrow(
        UsageError,
      )
      expect(changedKeys(before, await takeImage(table))).toEqual([])
    },
  )

  it.each(['0.000001', MOST])('grants %s credits exactly', async (amount) => {
    const table = await engine.fresh()
    const { tenantId } = await openTenant(table, '0')
    const { json } = await runCommand(tenantGrant, { table, options: { tenant: tenantId, credits: amount } })
    expect(json).toMatchObject({ available: amount, granted: amount })
  })

  it('a sum beyond the exact range of doubles stays exact', async () => {
    const table = await engine.fresh()
    const tenant = await openTenant(table, MOST)
    for (let grant = 0; grant < 19; grant += 1) {
      await runCommand(tenantGrant, { table, options: { tenant: tenant.tenantId, credits: MOST } })
    }
    const job = await reserveJob(table, tenant, { estimate: credits('0.700001') })
    await claimSubmit(table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    const task = { taskId: 'task', submitText: { inline: '{}' }, acceptedAt: job.createdAt }
    const processing = (await recordAccepted(table, job, task)) ?? (await getVideoJob(table, job.tenantId, job.jobId))
    if (processing === undefined) {
      throw new Error('no job')
    }
    await resolveReservation(table, {
      job: processing,
      reservation: await requireReservation(table, job),
      resolution: { kind: 'settle', actual: credits('0.000001'), durationSeconds: '5' },
      nowMilliseconds: Date.now(),
    })
    const { balance } = await getTenant(table, tenant.tenantId)
    expect(formatCredits(balance.available)).toBe('19999999999.999999')
    expect(formatCredits(balance.granted)).toBe('20000000000')
    expect(await verifyLedger(table)).toEqual([])
  })
})

type Row = { readonly kind: string; readonly job: string; readonly amount: string; readonly actual: string | null }

/** Five seconds at 0.14 each. */
const FIVE_SECONDS = { model: 'famB-1.1-t2v', duration: 5, resolution: '720p' }

describe('a price change while a job runs', () => {
  let before: Gateway
  let after: Gateway | undefined

  beforeAll(async () => {
    before = await startGateway()
  })

  afterAll(async () => {
    await Promise.all([before.kill(), after?.kill()])
  })

  it('leaves the job at its prices of creation and applies to the next job', async () => {
    const running = await before.api.create({ ...FIVE_SECONDS, prompt: '[slow:2] a cat' })
    await before.stop()
    const { dataDirectory, configFile } = before
    writeFileSync(configFile, readFileSync(configFile, 'utf8').replaceAll('price: "0.14"', 'price: "1.40"'))
    after = await startGateway({ dataDirectory, configFile })
    const { id: later } = (await after.api.create({ ...FIVE_SECONDS, prompt: '[forever] a cat' })).json
    await after.api.until(String(running.json.id), 'succeeded', 'failed')
    const { entries } = Object(await after.admin('ledger', '--tenant', 'demo'))
    const rowsOf = (id: unknown) => entries.filter(({ job }: Row) => job === id)
    expect(rowsOf(running.json.id)).toMatchObject([
      { kind: 'settle', amount: '0.7', actual: '0.7' },
      { kind: 'reserve', amount: '0.7' },
    ])
    expect(rowsOf(later)).toMatchObject([{ kind: 'reserve', amount: '7' }])
    expect(await after.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
  })
})
