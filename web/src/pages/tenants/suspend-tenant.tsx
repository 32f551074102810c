import { useState } from 'preact/hooks'
import type { TenantDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { counted } from '../../core/plural.ts'
import { notify } from '../../state/notices.ts'

type SuspendTenantProps = { readonly tenant: TenantDetail; readonly onClose: () => void }

/** Stops every key of a tenant. */
export function SuspendTenant({ tenant, onClose }: SuspendTenantProps) {
  const [reason, setReason] = useState('')
  const confirm = async () => {
    const body = reason.trim() === '' ? {} : { reason: reason.trim() }
    await adminWrite('POST', '/tenants/{tenant_id}/suspension', { path: { tenant_id: tenant.id }, body })
    notify(`${tenant.name} is suspended`)
    onClose()
  }
  return (
    <ActionDialog
      title={`Suspend ${tenant.name}`}
      verb="Suspend"
      isDangerous
      consequence={`Every key of the tenant is refused from the next request on. ${counted(tenant.open_jobs, 'open job finishes and is', 'open jobs finish and are')} billed.`}
      typedConfirmation={tenant.id}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField label="Reason" hint="For the audit log; clients do not see it." value={reason} onChange={setReason} />
    </ActionDialog>
  )
}
