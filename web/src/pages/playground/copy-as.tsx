import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Dialog } from '../../components/dialog.tsx'
import {
  type CodeTool,
  type PlaygroundRequest,
  refusalOf,
  requestCode,
  toolsOf,
} from '../../core/playground/request-code.ts'

const TITLES: Readonly<Record<CodeTool, string>> = {
  curl: 'curl',
  openai: 'openai (TypeScript)',
  python: 'openai (Python)',
  'ai-sdk': 'AI SDK',
  fetch: 'fetch',
}

type CopyAsProps = {
  readonly kind: PlaygroundRequest['kind']
  /** The request of each model; side by side there are two. */
  readonly bodies: readonly PlaygroundRequest['body'][]
}

/** Shows the requests as code. The key stays out of it. */
export function CopyAs({ kind, bodies }: CopyAsProps) {
  const [isOpen, setOpen] = useState(false)
  const [tool, setTool] = useState<CodeTool>('curl')
  const refusal = refusalOf(tool, kind)
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
            {refusal === undefined ? (
              bodies.map((body) => (
                <Code
                  key={String(body.model)}
                  title={bodies.length === 1 ? undefined : String(body.model)}
                  label={`${TITLES[tool]} code`}
                  code={requestCode(tool, { kind, body, origin: location.origin })}
                />
              ))
            ) : (
              <p>{refusal}</p>
            )}
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

type CodeProps = { readonly title: string | undefined; readonly label: string; readonly code: string }

function Code({ title, label, code }: CodeProps) {
  return (
    <section aria-label={title}>
      {title === undefined ? null : <h3>{title}</h3>}
      <CodeBlock code={code} label={title === undefined ? label : `${label} of ${title}`} />
    </section>
  )
}
