import type { UsageDimension } from '../parameters/usage-dimensions.ts'
import { addUsageSums, NO_USAGE, type UsageCounter, type UsageSums } from './usage-counter.ts'

/** The sums of all counters with the same values of the dimensions. */
export type UsageGroup = {
  /** In the order of the dimensions that the usage is grouped by. */
  readonly values: readonly string[]
  readonly sums: UsageSums
}

/** Groups with their total. Memory grows with the number of groups, not of counters. */
export class UsageGroups {
  readonly #groupBy: readonly (UsageDimension | 'tenant')[]
  readonly #groups = new Map<string, UsageGroup>()
  #total = NO_USAGE

  constructor(groupBy: readonly (UsageDimension | 'tenant')[]) {
    this.#groupBy = groupBy
  }

  /** @param tenant for groups of several tenants. */
  add({ day, keyId, operation, model, ...sums }: UsageCounter, tenant = ''): void {
    const dimensions = { day, key: keyId, operation, model, tenant }
    const values = this.#groupBy.map((dimension) => dimensions[dimension])
    const name = JSON.stringify(values)
    const group = this.#groups.get(name)
    this.#groups.set(name, { values, sums: addUsageSums(group?.sums ?? NO_USAGE, sums) })
    this.#total = addUsageSums(this.#total, sums)
  }

  /** The sum of all counters. */
  get total(): UsageSums {
    return this.#total
  }

  /** Every group, sorted by its first value, then by its second, and so on. */
  sorted(): readonly UsageGroup[] {
    return [...this.#groups.values()].toSorted((left, right) => compareValues(left.values, right.values))
  }
}

/** Compares by code units, value by value: below zero if `left` comes first. */
export function compareValues(left: readonly string[], right: readonly string[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? ''
    if (value !== other) {
      return value < other ? -1 : 1
    }
  }
  return 0
}
