import { useState } from 'preact/hooks'
import type { KeyRow } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { useRotation } from '../../components/use-rotation.ts'

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
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number][0]>('86400')
  const { isAgain, run } = useRotation(async (again) => {
    const body = { overlap_seconds: Number(overlap), ...(again ? { again } : {}) }
    const { key } = await adminWrite('POST', '/keys/{key_id}/rotation', { path: { key_id: row.id }, body })
    onCreated(key)
  })
  return (
    <ActionDialog
      title={`Rotate ${row.name ?? row.id}`}
      verb={isAgain ? 'Rotate once more' : 'Rotate the key'}
      consequence="A new key with the same name, models, rate and budget is created and shown once."
      onClose={onClose}
      onConfirm={run}
    >
      <SelectField label="The old key" value={overlap} options={OVERLAPS} onChange={setOverlap} />
    </ActionDialog>
  )
}
