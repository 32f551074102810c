import type { VideoDetail } from '../../api/admin-types.ts'
import { Amount, Nothing } from '../../components/amount.tsx'

/** What a job cost, in its parts. */
export function VideoReceipt({ receipt }: { readonly receipt: VideoDetail['receipt'] }) {
  if (receipt === null || receipt.lines.length === 0) {
    return null
  }
  return (
    <section class="card" aria-label="Receipt">
      <div class="card-head">
        <h2>Receipt</h2>
        <span class="hint">credits</span>
      </div>
      <table class="plain">
        <caption class="unseen">What was billed</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col" class="at-end">
              Quantity
            </th>
            <th scope="col" class="at-end">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {receipt.lines.map((line) => (
            <tr key={`${line.what} ${line.quantity} ${line.amount}`}>
              <td>{line.what}</td>
              <td class="at-end">
                {line.quantity === null ? (
                  <Nothing />
                ) : (
                  `${line.quantity} × ${line.unit_price ?? '?'} per ${line.unit ?? 'unit'}`
                )}
              </td>
              <td class="at-end">
                <Amount value={line.amount} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>Billed</td>
            <td />
            <td class="at-end">
              <Amount value={receipt.cost} />
            </td>
          </tr>
        </tfoot>
      </table>
    </section>
  )
}
