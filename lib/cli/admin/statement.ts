import { timeOfId } from '#core/ids.ts'
import { formatCredits, type Microcredits, ZERO } from '#core/money.ts'
import { type LedgerRow, streamLedgerRows } from '#lambdas/admin/read-ledger.ts'
import { formatTable } from '../output.ts'
import type { Command } from './command.ts'
import { findTenant, PERIOD, readPeriod, TENANT } from './read-options.ts'

/** What moves the balance, by the kinds of rows. What is reserved or released stays in the balance. */
const MOVES = { grant: 'granted', adjust: 'adjusted', settle: 'spent' } as const

type Move = (typeof MOVES)[keyof typeof MOVES]

/** How the balance of a tenant moved in a period. */
export const ledgerStatement: Command = {
  name: 'ledger statement',
  summary: 'show how the balance of a tenant moved: opening balance, granted, adjusted, spent, closing balance',
  details: `As the console shows it: the balance is what is available and what open jobs and requests hold, and a job or request counts when it
began. Every row of the tenant is read; memory stays small for any ledger.`,
  options: { tenant: TENANT, ...PERIOD },
  examples: [
    'ledger statement --tenant demo --local',
    'ledger statement --tenant Acme --from 2026-11-01 --to 2026-12-01 --stage prod',
  ],
  async run(context, values) {
    const { from, to } = readPeriod(values)
    const table = await context.table()
    const { id, name } = await findTenant(table, values.required('tenant'))
    const { opening, moves } = await sumRows(streamLedgerRows(table, id), from, to)
    const closing = Object.values(moves).reduce((sum, { amount }) => sum + amount, opening)
    const lines = Object.entries(moves).map(([what, { rows, amount }]) => ({ what, rows, amount: credits(amount) }))
    const period = { from: isoOrNull(from), to: isoOrNull(to) }
    const balances = { opening_balance: credits(opening), closing_balance: credits(closing) }
    return {
      json: { tenant: id, tenant_name: name, ...period, ...balances, lines },
      text: formatTable(
        [`${name} (${id})`, 'ROWS', 'CREDITS'],
        [
          [`from ${period.from ?? 'the first row'}`, null, null],
          [`to ${period.to ?? 'now'}`, null, null],
          ['opening balance', null, balances.opening_balance],
          ...lines.map(({ what, rows, amount }) => [what, String(rows), amount]),
          ['closing balance', null, balances.closing_balance],
        ],
      ),
    }
  },
}

function isoOrNull(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString()
}

function credits(amount: bigint): string {
  return formatCredits(amount as Microcredits)
}

async function sumRows(rows: AsyncIterable<LedgerRow>, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY) {
  let opening: bigint = ZERO
  const moves: Record<Move, { rows: number; amount: bigint }> = {
    granted: { rows: 0, amount: ZERO },
    adjusted: { rows: 0, amount: ZERO },
    spent: { rows: 0, amount: ZERO },
  }
  for await (const { kind, amount, actual, job, at } of rows) {
    const change = kind === 'settle' ? -(actual ?? ZERO) : amount
    const beganAt = timeOfId(job ?? '') ?? at
    if (kind === 'reserve' || kind === 'release' || beganAt >= to) {
      continue
    }
    if (beganAt < from) {
      opening += change
    } else {
      const move = moves[MOVES[kind]]
      move.rows += 1
      move.amount += change
    }
  }
  return { opening, moves }
}
