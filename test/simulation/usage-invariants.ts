import { rule } from './rule.ts'
import { amount, type Snapshot } from './snapshot.ts'
import type { Item } from './table-mirror.ts'

/** Names of the sums of a counter that rows have as their usage. */
const USAGE = [
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'videoMilliseconds',
  'images',
] as const

/** The counters are the sums of the rows with the mark, and every settlement that cost something has the mark. */
export function checkUsage(now: Snapshot): string[] {
  const settled = now.rows.filter(({ item }) => item.kind === 'settle')
  const expected = new Map<string, Map<string, bigint>>()
  for (const { tenantId, item } of settled.filter(({ item }) => item.counted === true)) {
    const name = counterOf(tenantId, item)
    const sums = expected.get(name) ?? new Map<string, bigint>()
    expected.set(name, sums)
    for (const [part, value] of partsOf(item)) {
      sums.set(part, (sums.get(part) ?? 0n) + value)
    }
  }
  const stored = now.counters.map((counter) => ({ name: `${counter.tenantId} ${counter.id}`, counter }))
  return [
    ...stored.flatMap(({ name, counter }) =>
      Object.entries(counter).flatMap(([part, value]) =>
        typeof value === 'string'
          ? []
          : rule(
              BigInt(value) === (expected.get(name)?.get(part) ?? 0n),
              `counter ${name} has ${value} ${part}, and its rows ${expected.get(name)?.get(part)}`,
            ),
      ),
    ),
    ...[...expected.keys()].flatMap((name) =>
      rule(
        stored.some((each) => each.name === name),
        `there is no counter ${name}, and rows that it counts`,
      ),
    ),
    ...settled.flatMap(({ item }) =>
      rule(item.counted === true || amount(item.actual) === 0n, `the settlement of ${item.job} is not counted`),
    ),
  ]
}

function counterOf(tenantId: string, { at, ...row }: Item): string {
  const [keyId, operation, model] = [row.keyId, row.operation, row.model].map((name) => name ?? 'unknown')
  const day = new Date(Number(at)).toISOString().slice(0, 10)
  return `${tenantId} ${day}#${keyId}#${operation}#${model}`
}

function partsOf({ usage, actual }: Item): readonly (readonly [string, bigint])[] {
  const counts: Record<string, unknown> = { ...Object(usage) }
  return [['requests', 1n], ['cost', amount(actual)], ...USAGE.map((name) => [name, amount(counts[name])] as const)]
}
