import { useState } from 'preact/hooks'
import { notify } from '../state/notices.ts'
import { Icon } from './icon.tsx'

const SHOWN_MILLISECONDS = 1_500

/** Copies a string to the clipboard and says so. */
export function CopyButton({ value, label }: { readonly value: string; readonly label: string }) {
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

/** An id in a fixed-width font with its copy button. Long ids are cut in the middle; the copy is whole. */
export function Id({ value, label = 'id' }: { readonly value: string; readonly label?: string }) {
  return (
    <span class="id">
      <code title={value}>{shortId(value)}</code>
      <CopyButton value={value} label={label} />
    </span>
  )
}

const SHOWN_CHARACTERS_MAX = 20

function shortId(value: string): string {
  return value.length <= SHOWN_CHARACTERS_MAX ? value : `${value.slice(0, 8)}…${value.slice(-6)}`
}
