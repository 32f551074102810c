import { describe, expect, it } from 'vitest'
import { formatCredits } from '#core/money.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { tenantCreate, tenantGrant } from '../../lib/cli/admin/tenants.ts'
import { UsageError } from '../../lib/cli/terminal.ts'
import { runCommand } from '../admin/command-line/run-command.ts'
import { useTestTable } from '../engines/start-test-table.ts'
import { credits, openTenant, requireReservation, reserveJob } from '../engines/video-jobs.ts'
import { changedKeys, takeImage } from './table-image.ts'

const engine = useTestTable()

/** A thousand million credits, which is 10^15 millionths. */
const MOST = '1000000000'

describe('credit amounts at their limits', () => {
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
