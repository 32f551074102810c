import { useState } from 'preact/hooks'
import type { TenantDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { Amount } from '../../components/amount.tsx'
import { TextField } from '../../components/text-field.tsx'
import { creditWords, parseAmount, readableAmount, sumAmounts } from '../../core/amount.ts'
import { notify } from '../../state/notices.ts'

type ChangeBalanceProps = {
  readonly tenant: TenantDetail
  /** A grant adds credits; an adjustment adds or takes them and needs a reason. */
  readonly isGrant: boolean
  readonly onClose: () => void
}

/** Grants credits to a tenant, or adjusts its balance. The id of the row is drawn with the dialog, so a repeated press moves money once. */
export function ChangeBalance({ tenant, isGrant, onClose }: ChangeBalanceProps) {
  const [id] = useState(() => crypto.randomUUID())
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const [allowsDebt, setAllowsDebt] = useState(false)
  const millionths = parseAmount(amount)
  const after = sumAmounts([tenant.available, amount])
  const isDebt = (parseAmount(after) ?? 0n) < 0n
  const confirm = async () => {
    const path = { tenant_id: tenant.id }
    const exact = amount.trim().replace(/^\+/, '')
    const words = note.trim()
    const grant = { id, credits: exact, ...(words === '' ? {} : { note: words }) }
    const adjustment = { id, amount: exact, reason: words, allow_debt: allowsDebt }
    await (isGrant
      ? adminWrite('POST', '/tenants/{tenant_id}/grants', { path, body: grant })
      : adminWrite('POST', '/tenants/{tenant_id}/adjustments', { path, body: adjustment }))
    notify(`${isGrant ? 'Granted' : 'Adjusted by'} ${creditWords(exact)}`)
    onClose()
  }
  return (
    <ActionDialog
      title={isGrant ? `Grant credits to ${tenant.name}` : `Adjust the balance of ${tenant.name}`}
      verb={verbOf(isGrant, millionths === undefined ? '' : amount)}
      consequence={
        <span>
          Available: <Amount value={tenant.available} /> → <Amount value={after} />
        </span>
      }
      blockedBecause={blocked({ millionths, isGrant, note, isRefusedDebt: !isGrant && isDebt && !allowsDebt })}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField
        label="Credits"
        hint={isGrant ? 'Above zero, such as 50 or 0.5.' : 'With a sign, such as -5.'}
        isNumeric
        value={amount}
        error={
          amount.trim() === '' || millionths !== undefined ? undefined : 'Use digits, with at most six decimal places'
        }
        onChange={setAmount}
      />
      <TextField
        label={isGrant ? 'Note' : 'Reason'}
        hint="Stands in the ledger and in the audit log."
        value={note}
        onChange={setNote}
      />
      {isGrant || !isDebt ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={allowsDebt}
            onChange={(event) => setAllowsDebt(event.currentTarget.checked)}
          />
          The balance may fall below zero
        </label>
      )}
    </ActionDialog>
  )
}

function verbOf(isGrant: boolean, amount: string): string {
  const readable = amount.trim() === '' ? '' : ` ${readableAmount(amount, { isSigned: !isGrant })}`
  return isGrant ? `Grant${readable} credits` : `Adjust by${readable} credits`
}

type Draft = {
  readonly millionths: bigint | undefined
  readonly isGrant: boolean
  readonly note: string
  readonly isRefusedDebt: boolean
}

function blocked({ millionths, isGrant, note, isRefusedDebt }: Draft): string | undefined {
  if (millionths === undefined || millionths === 0n || (isGrant && millionths < 0n)) {
    return isGrant ? 'Enter an amount above zero' : 'Enter an amount other than zero'
  }
  if (!isGrant && note.trim() === '') {
    return 'Enter a reason'
  }
  return isRefusedDebt ? 'The balance would fall below zero' : undefined
}
