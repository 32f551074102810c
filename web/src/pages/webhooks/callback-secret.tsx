import { useState } from 'preact/hooks'
import { adminWrite } from '../../api/admin-write.ts'
import { ActionDialog } from '../../components/action-dialog.tsx'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { useRotation } from '../../components/use-rotation.ts'

/** Shows the secret of a tenant's callbacks on request, and rotates it. Both stand in the audit log. */
export function CallbackSecret({ tenant }: { readonly tenant: string }) {
  const [secret, setSecret] = useState<string | null>(null)
  const [asked, setAsked] = useState<'show' | 'rotate' | null>(null)
  const { isAgain, run } = useRotation(async (again) => {
    const body = asked === 'rotate' ? { rotate: true, ...(again ? { again } : {}) } : {}
    const path = { tenant_id: tenant }
    setSecret((await adminWrite('POST', '/tenants/{tenant_id}/callback-secret', { path, body })).webhook_secret)
    setAsked(null)
  })
  return (
    <section class="card" aria-label="Signing secret">
      <div class="card-head">
        <h2>Signing secret</h2>
        <span class="toolbar">
          <Button onClick={() => setAsked('show')}>Show the secret</Button>
          <Button onClick={() => setAsked('rotate')}>Rotate the secret</Button>
        </span>
      </div>
      {secret === null ? (
        <p class="hint">Receivers verify signatures with it.</p>
      ) : (
        <div class="secret">
          <code>{secret}</code>
          <CopyButton value={secret} label="secret" />
        </div>
      )}
      {asked === null ? null : (
        <ActionDialog
          title={asked === 'show' ? 'Show the secret' : 'Rotate the secret'}
          verb={asked === 'show' ? 'Show' : isAgain ? 'Rotate once more' : 'Rotate the secret'}
          consequence={
            asked === 'show'
              ? 'The audit log says that you have seen it.'
              : 'Callbacks are signed with both secrets for a day. Receivers need the new one by then.'
          }
          onClose={() => setAsked(null)}
          onConfirm={run}
        />
      )}
    </section>
  )
}
