import type { AuditRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { Id } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { Time } from '../../components/time.tsx'

/** One row of the audit log with both states of what it changed. */
export function AuditSheet({ row, onClose }: { readonly row: AuditRow; readonly onClose: () => void }) {
  return (
    <Dialog title={row.action} kind="sheet" onClose={onClose}>
      <div class="dialog-body">
        <dl class="facts">
          <dt>Time</dt>
          <dd>
            <Time at={row.at} isAbsolute />
          </dd>
          <dt>Actor</dt>
          <dd>
            {row.actor} ({row.role})
          </dd>
          <dt>Target</dt>
          <dd>
            {row.kind} <Id value={row.target} label={`${row.kind} id`} />
          </dd>
          <dt>Tenant</dt>
          <dd>{row.tenant ?? <Nothing />}</dd>
          <dt>Request</dt>
          <dd>{row.request_id === null ? <Nothing /> : <Id value={row.request_id} label="request id" />}</dd>
        </dl>
        <h3>Before</h3>
        <JsonTree value={row.before} />
        <h3>After</h3>
        <JsonTree value={row.after} />
      </div>
    </Dialog>
  )
}
