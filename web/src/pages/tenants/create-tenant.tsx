import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { BudgetFields, budgetBody, budgetDraft, isBudgetReadable } from '../../components/budget-fields.tsx'
import { TextField } from '../../components/text-field.tsx'
import { tenantUrl } from '../../core/console-url.ts'
import { notify } from '../../state/notices.ts'

/** Creates a tenant, without credits. */
export function CreateTenant({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation()
  const [name, setName] = useState('')
  const [budget, setBudget] = useState(budgetDraft(null))
  const confirm = async () => {
    const body = { name: name.trim(), budget: budgetBody(budget) }
    const tenant = await adminWrite('POST', '/tenants', { body })
    notify(`Created the tenant ${body.name}`)
    onClose()
    route(tenantUrl(tenant.id))
  }
  return (
    <ActionDialog
      title="New tenant"
      verb="Create the tenant"
      consequence="The tenant begins with a balance of 0; grant credits on its page."
      blockedBecause={blocked(name, isBudgetReadable(budget))}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField label="Name" value={name} onChange={setName} />
      <BudgetFields value={budget} onChange={setBudget} />
    </ActionDialog>
  )
}

function blocked(name: string, isReadable: boolean): string | undefined {
  if (name.trim() === '') {
    return 'Enter a name first'
  }
  return isReadable ? undefined : 'Correct the budget first'
}
