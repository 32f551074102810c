import { markdownTable } from '../markdown-table.ts'
import type { ChatFigures } from './chat-load.ts'

/** What one case found. */
export type ContentionFindings = ChatFigures & {
  readonly processes: number
  readonly perSecond: number
  readonly chatMilliseconds: number
  readonly seconds: number
  /** Transactions that were sent, tries included, and those that met another one at an item. */
  readonly transactions: number
  readonly conflicts: number
  /** Findings of `ledger verify`. */
  readonly broken: readonly string[]
}

const HEAD = [
  'processes',
  'chats/s asked',
  'served/s',
  'refused',
  'served by the least and the most',
  'p50 ms',
  'p99 ms',
  'transactions/s',
  'of which met another',
  'ledger',
]

/** A row for each case. */
export function renderContention(found: readonly ContentionFindings[]): string {
  return markdownTable(
    HEAD,
    found.map((each) => [
      each.processes,
      each.perSecond,
      each.servedPerSecond.toFixed(1),
      `${((100 * each.refused) / (each.served + each.refused)).toFixed(1)} %`,
      `${each.leastServed}, ${each.mostServed}`,
      each.p50.toFixed(0),
      each.p99.toFixed(0),
      (each.transactions / each.seconds).toFixed(0),
      `${((100 * each.conflicts) / Math.max(1, each.transactions)).toFixed(0)} %`,
      each.broken.length === 0 ? 'clean' : each.broken.slice(0, 3).join('; '),
    ]),
  )
}
