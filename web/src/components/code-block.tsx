import { CopyButton } from './copy.tsx'

/** Code to copy. @param label is what is copied, such as `curl code`. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <div class="code">
      <CopyButton value={code} label={label} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the code scrolls, and the keyboard must reach it */}
      <pre tabIndex={0}>{code}</pre>
    </div>
  )
}
