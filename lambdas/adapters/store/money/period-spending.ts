import type { BudgetPeriod } from '#core/budgets.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import type { Table } from '../table/table.ts'
import { type DayRange, streamUsageCounters } from './usage-counters.ts'

/**
 * What the usage counters of a period add up to.
 * @param keyIds counts these keys alone; undefined for all keys of the tenant.
 */
export async function spentInPeriod(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  { period, keyIds }: { readonly period: BudgetPeriod; readonly keyIds?: ReadonlySet<string> },
): Promise<Microcredits> {
  let spent = ZERO as bigint
  for await (const { keyId, cost } of streamUsageCounters(table, tenantId, daysOf(period))) {
    spent += keyIds === undefined || keyIds.has(keyId) ? cost : ZERO
  }
  return spent as Microcredits
}

/** Undefined for a total, which has every day. */
function daysOf({ kind, id }: BudgetPeriod): DayRange | undefined {
  switch (kind) {
    case 'day':
      return { from: id, to: id }
    case 'month':
      return { from: `${id}-01`, to: `${id}-31` }
    case 'total':
      return undefined
    default:
      return kind satisfies never
  }
}

/** Readings while the tenant settles requests; each takes milliseconds. */
const READINGS_MAX = 10

/** Amounts that were read together with a sum of other items, such as the counters of a period. */
export type Snapshot<Read> = {
  /** As read before the other items. */
  readonly read: Read
  readonly sum: Microcredits
  /** Whether nothing moved between the two readings. Otherwise `sum` may include what `read` does not. */
  readonly isExact: boolean
}

/**
 * Reads amounts and a sum at one moment: again while `sameAt` finds that the amounts moved while the sum was read.
 * @returns the last reading if the amounts never stood still.
 */
export async function readSnapshot<Read>({
  read,
  count,
  sameAt,
}: {
  readonly read: () => Promise<Read>
  readonly count: (read: Read) => Promise<Microcredits>
  readonly sameAt: (before: Read, after: Read) => boolean
}): Promise<Snapshot<Read>> {
  for (let reading = 1; ; reading += 1) {
    const before = await read()
    const sum = await count(before)
    const isExact = sameAt(before, await read())
    if (isExact || reading === READINGS_MAX) {
      return { read: before, sum, isExact }
    }
  }
}
