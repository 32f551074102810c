import { useState } from 'preact/hooks'
import type { KeyRow } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { useMay } from '../../api/session.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { BudgetFields, budgetBody, isBudgetReadable } from '../../components/budget-fields.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { TextField } from '../../components/text-field.tsx'
import {
  EXPIRIES,
  isRateReadable,
  type KeyDraft,
  keyChanges,
  keyDraft,
  newKeyBody,
  RATE_DEFAULT,
} from '../../core/key-draft.ts'
import { useTenantNames } from '../../shell/tenant-scope.tsx'
import { unixSeconds } from '../../state/clock.ts'
import { notify } from '../../state/notices.ts'
import { ModelChoice } from './model-choice.tsx'

type KeyFormProps = {
  readonly tenant: string
  /** The key to change; null for a new one. */
  readonly row: KeyRow | null
  readonly onClose: () => void
  readonly onCreated: (key: string) => void
}

/** Creates a key, or changes what a key may do. */
export function KeyForm({ tenant, row, onClose, onCreated }: KeyFormProps) {
  const nameOf = useTenantNames()
  const isBounded = !useMay('owner')
  const [draft, setDraft] = useState<KeyDraft>(() => keyDraft(row))
  const change = (changes: Partial<KeyDraft>) => setDraft((before) => ({ ...before, ...changes }))
  const now = unixSeconds()
  const changes = keyChanges(draft, row, { now, budget: budgetBody(draft.budget) })
  const confirm = async () => {
    if (row === null) {
      const body = newKeyBody(draft, { tenant, now, budget: budgetBody(draft.budget) })
      const { key = '' } = await adminWrite('POST', '/keys', { body })
      onCreated(key)
      return
    }
    await adminWrite('PATCH', '/keys/{key_id}', { path: { key_id: row.id }, body: changes })
    notify(`Changed ${row.name ?? row.id}`)
    onClose()
  }
  const isReadable = isRateReadable(draft) && isBudgetReadable(draft.budget)
  const isUnchanged = row !== null && Object.keys(changes).length === 0
  return (
    <ActionDialog
      title={row === null ? `New key for ${nameOf(tenant)}` : `Change ${row.name ?? row.id}`}
      verb={row === null ? 'Create the key' : 'Save'}
      blockedBecause={isReadable ? (isUnchanged ? 'Nothing has changed' : undefined) : 'Correct the fields first'}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField
        label="Name"
        hint="For people, such as the program that uses it."
        value={draft.name}
        onChange={(name) => change({ name })}
      />
      <ModelChoice chosen={draft.models} onChange={(models) => change({ models })} />
      <TextField
        label="Requests a minute"
        hint={isBounded ? `At most ${RATE_DEFAULT}. Ask an owner for more.` : 'Empty for no limit.'}
        isNumeric
        value={draft.rate}
        error={isRateReadable(draft) ? undefined : 'Use a whole number above zero'}
        onChange={(rate) => change({ rate })}
      />
      <BudgetFields value={draft.budget} onChange={(budget) => change({ budget })} />
      <SelectField
        label="Expires"
        value={draft.expiry}
        options={row === null ? EXPIRIES : [['keep', 'as before'], ...EXPIRIES]}
        onChange={(expiry) => change({ expiry })}
      />
    </ActionDialog>
  )
}
