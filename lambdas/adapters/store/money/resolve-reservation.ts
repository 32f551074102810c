import { movingTime } from '#core/budgets.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { NamedWrites, Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { moveKeyBudget, moveTenantBudget } from './budget-writes.ts'
import { closeReservation, endJob, freeSlot } from './end-job-writes.ts'
import { countSettlement, type JobResolution, putResolutionRow } from './job-resolution.ts'
import { guessBudgets, type KnownBudgets, transactWithBudgets } from './known-budgets.ts'
import { getReservation } from './reservation.ts'

/** The result of resolving a job's reservation. A `conflict` kept the earlier, different resolution. */
export type ResolutionOutcome = 'resolved' | 'already_resolved' | 'conflict'

/**
 * Ends a job and its reservation in one transaction: status, ledger row, balance, budgets, usage counter and channel slot together.
 * Three independent guards make it happen once: the reservation's state, the one key of the ledger row, the job's status.
 * @throws StoreRefusal `changed_meanwhile` when the job is no longer what `job` says and its reservation is still open.
 */
export async function resolveReservation(table: Table, context: JobResolution): Promise<ResolutionOutcome> {
  const { reservation, nowMilliseconds } = context
  const { closed, billed } = giveBack(context).move
  try {
    const key = closed === 0n && billed === 0n ? undefined : reservation.budget
    await transactWithBudgets(table, {
      known: guessBudgets({ key, tenantKind: reservation.tenantBudgetKind }, nowMilliseconds),
      nowMilliseconds,
      compose: (known) => {
        const at = movingTime([known.key?.period, known.tenant], nowMilliseconds)
        return composeResolution({ ...context, nowMilliseconds: at }, known)
      },
      isFinal: (name) => name === 'reservation' || name === 'row',
      needsKeyBudget: false,
    })
    return 'resolved'
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return await explainRefusal(table, context, error)
    }
    throw error
  }
}

function composeResolution(context: JobResolution, known: KnownBudgets): NamedWrites {
  return {
    reservation: closeReservation(context),
    row: putResolutionRow(context),
    ...countSettlement(context),
    keyBudget: known.key && moveKeyBudget(known.key.id, { ...giveBack(context), known: known.key.period }),
    balance: moveFunds(context, known),
    job: endJob(context),
    slot: freeSlot(context.job),
    audit: context.resolution.kind === 'release' ? context.resolution.audit : undefined,
  }
}

/** The move of a budget by a resolution. */
function giveBack({ reservation, resolution, nowMilliseconds }: JobResolution) {
  const billed = resolution.kind === 'settle' ? resolution.actual : 0n
  return { move: { locked: 0n, closed: reservation.amount, billed }, nowMilliseconds }
}

async function explainRefusal(
  table: Table,
  { job, resolution }: JobResolution,
  error: Error,
): Promise<ResolutionOutcome> {
  const stored = await getReservation(table, job.tenantId, job.jobId)
  if (stored === undefined || stored.state === 'held') {
    throw new StoreRefusal('changed_meanwhile', `job ${job.jobId} changed while it was being resolved`, {
      cause: error,
    })
  }
  const isSame =
    resolution.kind === 'settle'
      ? stored.state === 'settled' && stored.actual === resolution.actual
      : stored.state === 'released'
  return isSame ? 'already_resolved' : 'conflict'
}

/**
 * Gives back the difference between estimate and actual; it may be negative (docs/decisions/0029). The job leaves the count of open jobs.
 */
function moveFunds(context: JobResolution, { tenant }: KnownBudgets): TableWrite {
  const { job, reservation, resolution } = context
  const actual = resolution.kind === 'settle' ? resolution.actual : 0n
  const budget = moveTenantBudget({ ...giveBack(context), known: tenant })
  return {
    Update: {
      Key: tableKeys.balance(job.tenantId),
      UpdateExpression: `SET held = held - :amount, spent = spent + :actual, available = available + :rest${budget.set} ADD openJobs :minusOne`,
      ConditionExpression: ['held >= :amount', budget.condition].join(' AND '),
      ExpressionAttributeValues: {
        ...budget.values,
        ':minusOne': -1,
        ':amount': reservation.amount,
        ':actual': actual,
        ':rest': reservation.amount - actual,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}
