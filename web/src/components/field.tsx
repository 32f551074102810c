import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

type FieldProps = {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  /** Draws the control; it gets the attributes that tie it to its label, its hint and its error. */
  readonly children: (control: ControlAttributes) => ComponentChildren
}

/** Attributes of a control inside a field. */
type ControlAttributes = {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
}

/** A label, a control, and what to know about it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`].join(' ').trim()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}
