import type { KeyRow } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { notify } from '../../state/notices.ts'

/** Ends a key: an API key for good, that of a subject until it is restored. */
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
      consequence={
        row.issuer === undefined
          ? 'Requests with this key are refused from now on, and its sessions of this console end. A revoked key cannot come back.'
          : 'Requests of this subject are refused from now on, until the key is restored.'
      }
      typedConfirmation={row.name ?? row.id}
      onClose={onClose}
      onConfirm={confirm}
    />
  )
}

/** Lets the revoked subject of an issuer call again. */
export function RestoreKey({ row, onClose }: { readonly row: KeyRow; readonly onClose: () => void }) {
  const confirm = async () => {
    await adminWrite('DELETE', '/keys/{key_id}/revocation', { path: { key_id: row.id } })
    notify(`Restored ${row.name ?? row.id}`)
    onClose()
  }
  return (
    <ActionDialog
      title={`Restore ${row.name ?? row.id}`}
      verb="Restore the key"
      consequence="Requests of this subject are served again, within the limits of its rule."
      onClose={onClose}
      onConfirm={confirm}
    />
  )
}
