import type { KeyRow } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { notify } from '../../state/notices.ts'

/** Ends a key for good. */
export function RevokeKey({ row, onClose }: { readonly row: KeyRow; readonly onClose: () => void }) {
  const confirm = async () => {
    await adminWrite('POST', '/keys/{key_id}/revocation', { path: { key_id: row.id } })
    notify(`Revoked ${row.name ?? row.id}`)
    onClose()
  }
  return (
    <ActionDialog
      title={`Revoke ${row.name ?? row.id}`}
      verb="Revoke the key"
      isDangerous
      consequence="Requests with this key are refused from now on, and its sessions of this console end. A revoked key cannot come back."
      typedConfirmation={row.name ?? row.id}
      onClose={onClose}
      onConfirm={confirm}
    />
  )
}
