import type { TenantDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { notify } from '../../state/notices.ts'
import { ChangeAlerts } from './change-alerts.tsx'
import { ChangeBalance } from './change-balance.tsx'
import { ChangeLimits } from './change-limits.tsx'
import { SuspendTenant } from './suspend-tenant.tsx'

/** What an owner may do with a tenant. */
export type TenantAction = 'grant' | 'adjust' | 'limits' | 'alerts' | 'suspend' | 'resume'

type TenantDialogProps = {
  readonly tenant: TenantDetail
  readonly action: TenantAction
  readonly onClose: () => void
}

/** The dialog of one action. */
export function TenantDialog({ tenant, action, onClose }: TenantDialogProps) {
  switch (action) {
    case 'grant':
    case 'adjust':
      return <ChangeBalance tenant={tenant} isGrant={action === 'grant'} onClose={onClose} />
    case 'limits':
      return <ChangeLimits tenant={tenant} onClose={onClose} />
    case 'alerts':
      return <ChangeAlerts tenant={tenant} onClose={onClose} />
    case 'suspend':
      return <SuspendTenant tenant={tenant} onClose={onClose} />
    case 'resume':
      return <ResumeTenant tenant={tenant} onClose={onClose} />
    default:
      return action satisfies never
  }
}

function ResumeTenant({ tenant, onClose }: Omit<TenantDialogProps, 'action'>) {
  const confirm = async () => {
    await adminWrite('DELETE', '/tenants/{tenant_id}/suspension', { path: { tenant_id: tenant.id } })
    notify(`${tenant.name} may make requests again`)
    onClose()
  }
  return (
    <ActionDialog
      title={`Resume ${tenant.name}`}
      verb="Resume"
      consequence="The keys of the tenant work again from the next request on."
      onClose={onClose}
      onConfirm={confirm}
    />
  )
}
