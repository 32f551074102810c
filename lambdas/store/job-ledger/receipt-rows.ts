import * as z from 'zod/mini'
import { ZERO } from '#core/money.ts'
import type { ReceiptRows } from '#core/pricing/video-settlement.ts'
import { storedAmount } from '../table/attributes.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

const lines = z.array(
  z.object({
    what: z.string(),
    quantity: z.string(),
    unit: z.enum(['second', 'million tokens', 'request']),
    unitPrice: z.string(),
    amount: storedAmount,
  }),
)

const reserveRow = z.object({ amount: storedAmount, at: z.number(), model: z.string(), billing: z.string(), lines })
const resolutionRow = z.object({
  amount: storedAmount,
  at: z.number(),
  kind: z.enum(['settle', 'release']),
  actual: z._default(storedAmount, ZERO),
  lines: z.optional(lines),
})

/**
 * Reads the ledger rows of a video job in one request; undefined for a job that the tenant never had. The ledger keeps them after the
 * job was deleted or has expired. A relayed request has no first row.
 * @throws ZodError for a row that this service did not write.
 */
export async function readReceiptRows(
  table: Pick<Table, 'readItems'>,
  { tenantId, jobId }: { readonly tenantId: string; readonly jobId: string },
): Promise<ReceiptRows | undefined> {
  const [reserve, resolution] = await table.readItems([
    tableKeys.ledgerReserve(tenantId, jobId),
    tableKeys.ledgerResolution(tenantId, jobId),
  ])
  return receiptRowsOf(reserve, resolution)
}

/** The same from the items of both rows. @throws ZodError */
export function receiptRowsOf(reserve: unknown, resolution: unknown): ReceiptRows | undefined {
  return reserve === undefined
    ? undefined
    : {
        reserve: reserveRow.parse(reserve),
        resolution: resolution === undefined ? undefined : withLines(resolutionRow.parse(resolution)),
      }
}

function withLines({ lines: billed, ...rest }: z.infer<typeof resolutionRow>) {
  return { ...rest, lines: billed }
}
