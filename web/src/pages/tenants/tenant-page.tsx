import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { useAdmin } from '../../api/admin-query.ts'
import type { TenantDetail } from '../../api/admin-types.ts'
import { useMay } from '../../api/session.ts'
import { Amount, Nothing } from '../../components/amount.tsx'
import { BudgetBar } from '../../components/budget-bar.tsx'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/copy.tsx'
import { Failure, Skeleton } from '../../components/feedback.tsx'
import { Page } from '../../components/page.tsx'
import { Stat } from '../../components/stat.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { CONSOLE_PAGES } from '../../core/console-page.ts'
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
      <section class="card">
        <div class="card-head">
          <h2>Limits</h2>
        </div>
        <Limits tenant={tenant} />
      </section>
      <nav class="toolbar" aria-label={`Pages of ${tenant.name}`}>
        {CONSOLE_PAGES.filter(({ isScoped }) => isScoped).map((page) => (
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
      <Button onClick={() => onAction('limits')}>Change</Button>
      {tenant.state === 'suspended' ? (
        <Button onClick={() => onAction('resume')}>Resume</Button>
      ) : (
        <Button onClick={() => onAction('suspend')}>Suspend</Button>
      )}
    </>
  )
}

function Limits({ tenant }: { readonly tenant: TenantDetail }) {
  const { thresholds, low_balance, url_host } = tenant.alerts
  return (
    <dl class="facts">
      <dt>Budget</dt>
      <dd>
        <BudgetBar budget={tenant.budget} />
      </dd>
      <dt>Open jobs</dt>
      <dd>
        {tenant.open_jobs}
        {tenant.open_jobs_max === null ? '' : ` of ${tenant.open_jobs_max}`}
      </dd>
      <dt>Alerts at</dt>
      <dd>{thresholds.length === 0 ? <Nothing /> : thresholds.map((percent) => `${percent} %`).join(', ')}</dd>
      <dt>Low balance</dt>
      <dd>
        <Amount value={low_balance} />
      </dd>
      <dt>Alerts go to</dt>
      <dd>{url_host ?? <Nothing />}</dd>
    </dl>
  )
}
