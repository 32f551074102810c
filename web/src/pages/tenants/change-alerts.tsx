import { useState } from 'preact/hooks'
import type { TenantDetail } from '../../api/admin-types.ts'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { parseAmount } from '../../core/amount.ts'
import { notify } from '../../state/notices.ts'

type ChangeAlertsProps = { readonly tenant: TenantDetail; readonly onClose: () => void }

/** Percentages as a person writes them, such as `50, 80 %`. */
const PERCENTAGES = /^[\d\s,%]*$/

/** Changes when and where a tenant is alerted. Only what has changed is sent. */
export function ChangeAlerts({ tenant, onClose }: ChangeAlertsProps) {
  const { alerts } = tenant
  const before = { percentages: alerts.thresholds.join(', '), lowBalance: alerts.low_balance ?? '' }
  const [percentages, setPercentages] = useState(before.percentages)
  const [lowBalance, setLowBalance] = useState(before.lowBalance)
  const [url, setUrl] = useState('')
  const [isUrlKept, setUrlKept] = useState(alerts.url_host !== null)
  const thresholds = percentages.match(/\d+/g)?.map(Number) ?? null
  const isAmount = lowBalance.trim() === '' || (parseAmount(lowBalance) ?? -1n) >= 0n
  const isReadable = PERCENTAGES.test(percentages) && isAmount
  const body = {
    ...(percentages.trim() === before.percentages ? {} : { thresholds }),
    ...(lowBalance.trim() === before.lowBalance
      ? {}
      : { low_balance: lowBalance.trim() === '' ? null : lowBalance.trim() }),
    ...(isUrlKept || (url.trim() === '' && alerts.url_host === null)
      ? {}
      : { url: url.trim() === '' ? null : url.trim() }),
  }
  const confirm = async () => {
    await adminWrite('PATCH', '/tenants/{tenant_id}/alerts', { path: { tenant_id: tenant.id }, body })
    notify(`Changed the alerts of ${tenant.name}`)
    onClose()
  }
  const isChanged = Object.keys(body).length > 0
  return (
    <ActionDialog
      title={`Alerts of ${tenant.name}`}
      verb="Save"
      consequence="Operators get every alert of a stage that has alarms."
      blockedBecause={isReadable ? (isChanged ? undefined : 'Nothing has changed') : 'Correct the fields first'}
      onClose={onClose}
      onConfirm={confirm}
    >
      <TextField
        label="Alert at percentages of a budget"
        hint="Of the tenant's budget and of those of its keys. Empty for 50, 80, 100."
        value={percentages}
        error={PERCENTAGES.test(percentages) ? undefined : 'Use whole numbers, such as 50, 80, 100'}
        onChange={setPercentages}
      />
      <TextField
        label="Alert at a balance below"
        hint="Credits, held ones included; empty for no alert."
        isNumeric
        value={lowBalance}
        error={isAmount ? undefined : 'Use digits, such as 25 or 0.5'}
        onChange={setLowBalance}
      />
      {alerts.url_host === null ? null : (
        <label class="check">
          <input type="checkbox" checked={isUrlKept} onChange={(event) => setUrlKept(event.currentTarget.checked)} />
          Keep sending them to {alerts.url_host}
        </label>
      )}
      {isUrlKept ? null : (
        <TextField
          label="Send them to the tenant at"
          hint="An https url on the allowlist of callbacks; empty for none."
          placeholder="https://"
          value={url}
          onChange={setUrl}
        />
      )}
    </ActionDialog>
  )
}
