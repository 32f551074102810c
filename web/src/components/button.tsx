import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

type ButtonProps = {
  readonly children: ComponentChildren
  readonly onClick?: (() => void) | undefined
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet'
  readonly type?: 'button' | 'submit'
  readonly icon?: IconName
  readonly isBusy?: boolean
  /** Why the button does nothing now, said beside it. It stays focusable. */
  readonly blockedBecause?: string | undefined
}

/** A button that says why it is blocked instead of disappearing from the keyboard. */
export function Button(props: ButtonProps) {
  const { children, onClick, kind = 'plain', type = 'button', icon, isBusy = false, blockedBecause } = props
  const isBlocked = isBusy || blockedBecause !== undefined
  const click = (event: MouseEvent) => {
    if (isBlocked) {
      event.preventDefault()
    } else {
      onClick?.()
    }
  }
  const id = useId()
  return (
    <>
      <button
        type={type}
        class={`button button-${kind}`}
        aria-disabled={isBlocked}
        aria-describedby={blockedBecause === undefined ? undefined : id}
        onClick={click}
      >
        {icon === undefined ? null : <Icon name={icon} />}
        {children}
      </button>
      {blockedBecause === undefined ? null : (
        <span id={id} class="blocked-because">
          {blockedBecause}
        </span>
      )}
    </>
  )
}
