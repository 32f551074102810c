import { type ComponentChildren, createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { notify } from '../state/notices.ts'
import { Icon } from './icon.tsx'

const SHOWN_MILLISECONDS = 1_500

type CopyButtonProps = {
  readonly value: string
  /** What is copied, after "Copy". */
  readonly label: string
}

/** Copies a string to the clipboard and says so. */
export function CopyButton({ value, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
    } catch {
      notify('The browser did not allow copying', 'bad')
      return
    }
    setCopied(true)
    notify(`Copied ${label}`)
    setTimeout(() => setCopied(false), SHOWN_MILLISECONDS)
  }
  return (
    <button type="button" class="copy" aria-label={`Copy ${label}`} title={`Copy ${label}`} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} size={14} />
    </button>
  )
}

/** Whether a link is around: a button in a link would be two things to press in one place. */
const IsInLink = createContext(false)

/** The content of a link, whose values have no copy buttons of their own. */
export function LinkContent({ children }: { readonly children: ComponentChildren }) {
  return <IsInLink.Provider value={true}>{children}</IsInLink.Provider>
}

/** A value that can be copied. The button takes no room, and appears beside the value when a pointer or the focus is there. */
export function Copyable({ value, label, children }: CopyButtonProps & { readonly children: ComponentChildren }) {
  const isInLink = useContext(IsInLink)
  return isInLink ? (
    children
  ) : (
    <span class="copyable">
      {children}
      <CopyButton value={value} label={label} />
    </span>
  )
}

type IdProps = {
  readonly value: string
  readonly label?: string
  /** The page of what has the id. */
  readonly href?: string
}

/** An id in a fixed-width font with its copy button. Long ids are cut in the middle; the copy is whole. */
export function Id({ value, label = 'id', href }: IdProps) {
  const code = <code title={value}>{shortId(value)}</code>
  return (
    <span class="id">
      {href === undefined ? code : <a href={href}>{code}</a>}
      <CopyButton value={value} label={label} />
    </span>
  )
}

const SHOWN_CHARACTERS_MAX = 12

function shortId(value: string): string {
  return value.length <= SHOWN_CHARACTERS_MAX ? value : `${value.slice(0, 6)}…${value.slice(-4)}`
}
