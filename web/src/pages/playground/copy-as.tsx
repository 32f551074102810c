import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { type CodeTool, type PlaygroundRequest, requestCode, toolsOf } from '../../core/playground/request-code.ts'

const TITLES: Readonly<Record<CodeTool, string>> = {
  curl: 'curl',
  openai: 'openai',
  'ai-sdk': 'AI SDK',
  fetch: 'fetch',
}

/** Shows the request as code. The key stays out of it. */
export function CopyAs({ kind, body }: Pick<PlaygroundRequest, 'kind' | 'body'>) {
  const [isOpen, setOpen] = useState(false)
  const [tool, setTool] = useState<CodeTool>('curl')
  const code = requestCode(tool, { kind, body, origin: location.origin })
  return (
    <>
      <Button kind="quiet" icon="copy" onClick={() => setOpen(true)}>
        Copy as code
      </Button>
      {isOpen ? (
        <Dialog title="Copy as code" onClose={() => setOpen(false)}>
          <div class="dialog-body">
            <div class="tabs">
              {toolsOf(kind).map((each) => (
                <button key={each} type="button" aria-pressed={each === tool} onClick={() => setTool(each)}>
                  {TITLES[each]}
                </button>
              ))}
            </div>
            <div class="code">
              <CopyButton value={code} label={`${TITLES[tool]} code`} />
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the code scrolls, and the keyboard must reach it */}
              <pre tabIndex={0}>{code}</pre>
            </div>
            <p class="hint">
              Put an API key into the variable <code>REELGATE_API_KEY</code>. The key of this page ends after 15
              minutes.
            </p>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
