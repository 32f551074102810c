import { useState } from 'preact/hooks'
import type { TenantDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { BudgetFields, budgetBody, budgetDraft, isBudgetReadable } from '../../components/budget-fields.tsx'
import { TextField } from '../../components/text-field.tsx'
import { notify } from '../../state/notices.ts'

type ChangeLimitsProps = { readonly tenant: TenantDetail; readonly onClose: () => void }

/** Changes the name, the open jobs and the budget of a tenant. Only what has changed is sent. */
export function ChangeLimits({ tenant, onClose }: ChangeLimitsProps) {
  const before = { name: tenant.name, jobs: String(tenant.open_jobs_max ?? ''), budget: budgetDraft(tenant.budget) }
  const [name, setName] = useState(before.name)
  const [jobs, setJobs] = useState(before.jobs)
  const [budget, setBudget] = useState(before.budget)
  const isBudgetChanged = budget.amount !== before.budget.amount || budget.period !== before.budget.period
  const body = {
    ...(name.trim() === before.name ? {} : { name: name.trim() }),
    ...(jobs.trim() === before.jobs ? {} : { open_jobs_max: jobs.trim() === '' ? null : Number(jobs) }),
    ...(isBudgetChanged ? { budget: budgetBody(budget) } : {}),
  }
  const confirm = async () => {
    await adminWrite('PATCH', '/tenants/{tenant_id}', { path: { tenant_id: tenant.id }, body })
    notify(`Changed ${tenant.name}`)
    onClose()
  }
  const isReadable = isBudgetReadable(budget) && /^\d*$/.test(jobs.trim()) && name.trim() !== ''
  const isChanged = Object.keys(body).length > 0
  return (
    <ActionDialog
      title={`Change ${tenant.name}`}
      verb="Save"
      blockedBecause={isReadable ? (isChanged ? undefined : 'Nothing has changed') : 'Correct the fields first'}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField label="Name" value={name} onChange={setName} />
      <TextField
        label="Max open jobs"
        hint="Empty for no limit."
        isNumeric
        value={jobs}
        error={/^\d*$/.test(jobs.trim()) ? undefined : 'Use a whole number'}
        onChange={setJobs}
      />
      <BudgetFields value={budget} onChange={setBudget} />
    </ActionDialog>
  )
}
