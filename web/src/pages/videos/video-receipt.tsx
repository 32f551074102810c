import type { VideoDetail } from '../../api/admin-types.ts'
import { Amount } from '../../components/amount.tsx'
import { amountColumn, exported } from '../../components/columns.tsx'
import { PlainTable } from '../../components/plain-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'

type Receipt = NonNullable<VideoDetail['receipt']>
type Line = Receipt['lines'][number]

/** What a job cost, in its parts. */
export function VideoReceipt({ receipt, jobId }: { readonly receipt: Receipt | null; readonly jobId: string }) {
  if (receipt === null || receipt.lines.length === 0) {
    return null
  }
  return (
    <section class="card" aria-label="Receipt">
      <div class="card-head">
        <h2>Receipt</h2>
        <span class="hint">credits</span>
      </div>
      <PlainTable
        caption="What was billed"
        columns={columnsOf(receipt)}
        rows={receipt.lines}
        rowKey={({ what, quantity, amount }) => `${what} ${quantity} ${amount}`}
        exportName={['receipt', jobId]}
      />
    </section>
  )
}

function columnsOf({ cost }: Receipt): readonly TableColumn<Line>[] {
  return [
    { id: 'what', title: 'What', value: ({ what }) => what, total: () => 'Billed' },
    {
      id: 'quantity',
      title: 'Quantity',
      isAtEnd: true,
      value: ({ quantity }) => quantity,
      cell: ({ quantity, unit_price, unit }) => <span>{`${quantity} × ${unit_price} per ${unit}`}</span>,
    },
    exported('Unit price', ({ unit_price }) => unit_price),
    exported('Unit', ({ unit }) => unit),
    {
      ...amountColumn({ id: 'amount', title: 'Amount' }, ({ amount }) => amount),
      // With every digit, as on any receipt.
      cell: ({ amount }) => <Amount value={amount} />,
      total: () => <Amount value={cost} />,
    },
  ]
}
