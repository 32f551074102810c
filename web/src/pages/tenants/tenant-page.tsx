import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { useAdmin } from '../../api/admin-query.ts'
import type { TenantDetail } from '../../api/admin-types.ts'
import { useMay, useSession } from '../../api/session.ts'
import { Amount, Nothing } from '../../components/amount.tsx'
import { BudgetBar } from '../../components/budget-bar.tsx'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { Page } from '../../components/page.tsx'
import { Stat } from '../../components/stat.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { pagesOf } from '../../core/console-page.ts'
import { pageUrl } from '../../shell/navigation.tsx'
import { type TenantAction, TenantDialog } from './tenant-dialog.tsx'

/** One tenant: its balance, its limits, and what an owner may do with them. */
export default function TenantPage() {
  const { params } = useRoute()
  const id = params.tenant_id ?? ''
  const tenant = useAdmin('/tenants/{tenant_id}', {}, { tenant_id: id })
  if (tenant.data === undefined) {
    return (
      <Page title={`Tenant ${id}`}>
        {tenant.isError ? <Failure error={tenant.error} onRetry={() => void tenant.refetch()} /> : <Skeleton />}
      </Page>
    )
  }
  return <Tenant tenant={tenant.data} />
}

function Tenant({ tenant }: { readonly tenant: TenantDetail }) {
  const [action, setAction] = useState<TenantAction | null>(null)
  const mayWrite = useMay('owner')
  const mayAlert = useMay('tenant-admin')
  const pages = pagesOf(useSession().role).filter(({ isScoped }) => isScoped)
  return (
    <Page
      title={tenant.name}
      lead={<Summary tenant={tenant} />}
      actions={mayWrite ? <Actions tenant={tenant} onAction={setAction} /> : undefined}
    >
      <dl class="stats">
        <Stat title="Available" note="what new requests may reserve">
          <Amount value={tenant.available} isRounded />
        </Stat>
        <Stat title="Held" note="reserved by open requests and jobs">
          <Amount value={tenant.held} isRounded />
        </Stat>
        <Stat title="Spent" note="settled since the beginning">
          <Amount value={tenant.spent} isRounded />
        </Stat>
        <Stat title="Granted" note="available, held and spent together">
          <Amount value={tenant.granted} isRounded />
        </Stat>
      </dl>
      <div class="card-row">
        <Limits tenant={tenant} onChange={mayWrite ? () => setAction('limits') : undefined} />
        <Alerts alerts={tenant.alerts} onChange={mayAlert ? () => setAction('alerts') : undefined} />
      </div>
      <nav class="toolbar" aria-label={`Pages of ${tenant.name}`}>
        {pages.map((page) => (
          <a key={page.name} class="button button-plain" href={pageUrl(page, tenant.id)}>
            {page.title}
          </a>
        ))}
      </nav>
      {action === null ? null : <TenantDialog tenant={tenant} action={action} onClose={() => setAction(null)} />}
    </Page>
  )
}

function Summary({ tenant }: { readonly tenant: TenantDetail }) {
  return (
    <span class="summary">
      <Status state={tenant.state} />
      <Id value={tenant.id} label="tenant id" />
      {tenant.suspension?.reason ? <span>{tenant.suspension.reason}</span> : null}
      <span>
        created <Time at={tenant.created_at} />
      </span>
    </span>
  )
}

type ActionsProps = { readonly tenant: TenantDetail; readonly onAction: (action: TenantAction) => void }

function Actions({ tenant, onAction }: ActionsProps) {
  return (
    <>
      <Button kind="primary" onClick={() => onAction('grant')}>
        Grant credits
      </Button>
      <Button onClick={() => onAction('adjust')}>Adjust</Button>
      {tenant.state === 'suspended' ? (
        <Button onClick={() => onAction('resume')}>Resume</Button>
      ) : (
        <Button onClick={() => onAction('suspend')}>Suspend</Button>
      )}
    </>
  )
}

type SettingsProps = {
  readonly title: string
  readonly children: ComponentChildren
  /** Opens the dialog that changes them. */
  readonly onChange: (() => void) | undefined
}

/** What is set for the tenant, and beside it the button that sets it. */
function Settings({ title, children, onChange }: SettingsProps) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {onChange === undefined ? null : <Button onClick={onChange}>Change {title.toLowerCase()}</Button>}
      </div>
      <dl class="facts">{children}</dl>
    </section>
  )
}

type LimitsProps = { readonly tenant: TenantDetail } & Pick<SettingsProps, 'onChange'>

function Limits({ tenant, onChange }: LimitsProps) {
  return (
    <Settings title="Limits" onChange={onChange}>
      <dt>Budget</dt>
      <dd>
        <BudgetBar budget={tenant.budget} />
      </dd>
      <dt>Open jobs</dt>
      <dd>
        {tenant.open_jobs}
        {tenant.open_jobs_max === null ? ', no limit' : ` of ${tenant.open_jobs_max}`}
      </dd>
    </Settings>
  )
}

type AlertsProps = { readonly alerts: TenantDetail['alerts'] } & Pick<SettingsProps, 'onChange'>

function Alerts({ alerts: { thresholds, low_balance, url_host }, onChange }: AlertsProps) {
  return (
    <Settings title="Alerts" onChange={onChange}>
      <dt>Budgets</dt>
      <dd>{thresholds.length === 0 ? <Nothing /> : `at ${thresholds.map((percent) => `${percent} %`).join(', ')}`}</dd>
      <dt>Balance</dt>
      <dd>
        {low_balance === null ? (
          <Nothing />
        ) : (
          <>
            below <Amount value={low_balance} />
          </>
        )}
      </dd>
      <dt>Sent to the tenant at</dt>
      <dd>{url_host ?? <Nothing />}</dd>
    </Settings>
  )
}
