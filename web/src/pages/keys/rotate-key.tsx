import { useState } from 'preact/hooks'
import type { KeyRow } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ApiError } from '../../api/api-error.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { SelectField } from '../../components/select-field.tsx'

type RotateKeyProps = {
  readonly row: KeyRow
  readonly onClose: () => void
  readonly onCreated: (key: string) => void
}

const OVERLAPS = [
  ['0', 'ends at once'],
  ['3600', 'works for an hour'],
  ['86400', 'works for a day'],
  ['604800', 'works for a week'],
] as const

/** Creates the successor of a key, and lets the old one end after a while. */
export function RotateKey({ row, onClose, onCreated }: RotateKeyProps) {
  const [overlap, setOverlap] = useState('86400')
  const [isAgain, setAgain] = useState(false)
  const confirm = async () => {
    const body = { overlap_seconds: Number(overlap), ...(isAgain ? { again: true } : {}) }
    try {
      const { key } = (await adminWrite('POST', `/keys/${encodeURIComponent(row.id)}/rotation`, body)) as {
        key: string
      }
      onCreated(key)
    } catch (failure) {
      setAgain(failure instanceof ApiError && failure.code === 'rotated_already')
      throw failure
    }
  }
  return (
    <ActionDialog
      title={`Rotate ${row.name ?? row.id}`}
      verb={isAgain ? 'Rotate once more' : 'Rotate the key'}
      consequence="A new key with the same name, models, rate and budget is created and shown once."
      onClose={onClose}
      onConfirm={confirm}
    >
      <SelectField label="The old key" value={overlap} options={OVERLAPS} onChange={setOverlap} />
    </ActionDialog>
  )
}
