import type { ComponentChildren } from 'preact'
import type { ApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Icon } from './icon.tsx'

/** A request that failed: what, its id, and another try. A refusal names the role that is needed. */
export function Failure({ error, onRetry }: { readonly error: ApiError; readonly onRetry: () => void }) {
  if (error.status === 403) {
    return (
      <div class="state" role="alert">
        <h2>Not for this role</h2>
        <p>{error.message}</p>
      </div>
    )
  }
  return (
    <div class="state state-bad" role="alert">
      <Icon name="alert" size={20} />
      <p>{error.message}</p>
      {error.requestId === null ? null : (
        <p class="hint">
          Request <code>{error.requestId}</code> <CopyButton value={error.requestId} label="request id" />
        </p>
      )}
      <Button icon="reload" onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

/** What a list says while it has nothing to show. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
    </div>
  )
}

/** Grey bars in the place of rows, which appear only when the wait is noticeable. */
export function Skeleton({ rows = 6, label = 'Loading' }: { readonly rows?: number; readonly label?: string }) {
  return (
    <div class="skeleton" aria-busy="true">
      <span class="unseen">{label}</span>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class="skeleton-row" />
      ))}
    </div>
  )
}
