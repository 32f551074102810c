import type { ComponentChildren } from 'preact'
import { Field } from './field.tsx'

type TextFieldProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  readonly placeholder?: string
  /** Shows the digits on a phone's keyboard. */
  readonly isNumeric?: boolean
}

/** A labelled line of text. */
export function TextField({ label, value, onChange, hint, error, placeholder, isNumeric = false }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <input
          {...control}
          autocomplete="off"
          spellcheck={false}
          inputMode={isNumeric ? 'decimal' : 'text'}
          placeholder={placeholder}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}
