import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

type ActionDialogProps = {
  readonly title: string
  /** The verb of the button, such as `Grant 50 credits`. */
  readonly verb: string
  /** The word of the button that does nothing, where `Cancel` could be read as the action. */
  readonly dismissal?: string
  readonly isDangerous?: boolean
  /** What happens, in numbers. */
  readonly consequence?: ComponentChildren
  /** Must be typed before the button works; for what stops a client. */
  readonly typedConfirmation?: string | undefined
  /** Why the action cannot be taken yet. */
  readonly blockedBecause?: string | undefined
  readonly children?: ComponentChildren
  readonly onClose: () => void
  /** Takes the action; the dialog shows its error and stays open, else its owner closes it. */
  readonly onConfirm: () => Promise<void>
}

/** A dialog around one action with an effect. Enter takes the action; a second press while it runs does nothing. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, verb, dismissal = 'Cancel', isDangerous = false, consequence, typedConfirmation } = props
  const { children, onClose, onConfirm } = props
  const [isBusy, setBusy] = useState(false)
  const [typed, setTyped] = useState('')
  const [error, setError] = useState<string>()
  const isTyped = typedConfirmation === undefined || typed.trim() === typedConfirmation
  const blockedBecause = props.blockedBecause ?? (isTyped ? undefined : `Type ${typedConfirmation} first`)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy || blockedBecause !== undefined) {
      return
    }
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
    } catch (failure) {
      setError(describeFailure(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <div class="dialog-body">
          {children}
          {consequence === undefined ? null : <div class="consequence">{consequence}</div>}
          {typedConfirmation === undefined ? null : (
            <Field label={`Type ${typedConfirmation} to confirm`}>
              {(control) => (
                <input
                  {...control}
                  autocomplete="off"
                  value={typed}
                  onInput={(event) => setTyped(event.currentTarget.value)}
                />
              )}
            </Field>
          )}
          {error === undefined ? null : (
            <p class="callout callout-bad" role="alert">
              {error}
            </p>
          )}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>{dismissal}</Button>
          <Button
            type="submit"
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            blockedBecause={blockedBecause}
          >
            {verb}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** A failure in one sentence, with the id under which the gateway has logged the request. */
export function describeFailure(failure: unknown): string {
  if (failure instanceof ApiError) {
    return failure.requestId === null ? failure.message : `${failure.message} (request ${failure.requestId})`
  }
  return failure instanceof Error ? failure.message : 'the action failed'
}
