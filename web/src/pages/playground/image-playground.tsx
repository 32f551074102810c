import { useEffect, useState } from 'preact/hooks'
import { gatewayRequest } from '../../api/gateway-request.ts'
import { describeFailure } from '../../components/action-dialog.tsx'
import { Amount } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { imageBlobs } from '../../core/playground/image-blobs.ts'
import { CopyAs } from './copy-as.tsx'
import { ModelFacts } from './model-facts.tsx'
import type { PlaygroundProps } from './playground-props.ts'

type ImageRun = { readonly id: string; readonly bodies: readonly Readonly<Record<string, unknown>>[] }

/** Creates images with one model or two, side by side. */
export function ImagePlayground({ tenant, models }: PlaygroundProps) {
  const [prompt, setPrompt] = useState('')
  const [size, setSize] = useState('')
  const [count, setCount] = useState(1)
  const [runs, setRuns] = useState<readonly ImageRun[]>([])
  const sizes = sharedSizes(models)
  const bodies = models.map(({ id }) => ({
    model: id,
    prompt,
    n: count,
    ...(size === '' ? {} : { size }),
    response_format: 'b64_json',
  }))
  const blocked = prompt.trim() === '' ? 'Write a prompt first' : undefined
  const send = (event: Event) => {
    event.preventDefault()
    if (blocked === undefined) {
      setRuns([{ id: crypto.randomUUID(), bodies }, ...runs])
    }
  }
  return (
    <div class="playground">
      <form class="card playground-form" onSubmit={send}>
        <Field label="Prompt">
          {(control) => (
            <textarea {...control} rows={4} value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
          )}
        </Field>
        <div class="field-row">
          <Field label="Size">
            {(control) => (
              <select {...control} value={size} onChange={(event) => setSize(event.currentTarget.value)}>
                <option value="">The model’s own</option>
                {sizes.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Images">
            {(control) => (
              <input
                {...control}
                type="number"
                min={1}
                max={4}
                value={count}
                onInput={(event) =>
                  setCount(Math.min(4, Math.max(1, Math.trunc(Number(event.currentTarget.value)) || 1)))
                }
              />
            )}
          </Field>
        </div>
        <div class="playground-send">
          <Button type="submit" kind="primary" icon="playground" blockedBecause={blocked}>
            {count === 1 ? 'Create the image' : 'Create the images'}
          </Button>
          <CopyAs kind="image" bodies={bodies} />
        </div>
        <ModelFacts models={models} />
      </form>
      <section class="playground-results" aria-label="Results">
        {runs.length === 0 ? <p class="playground-hint">The images appear here.</p> : null}
        {runs.map((run) => (
          <div key={run.id} class="playground-run" data-count={run.bodies.length}>
            {run.bodies.map((body) => (
              <Images key={String(body.model)} tenant={tenant} body={body} />
            ))}
          </div>
        ))}
      </section>
    </div>
  )
}

type ImagesState = { readonly urls: readonly string[]; readonly cost: string | null; readonly note: string | undefined }

function Images({ tenant, body }: { readonly tenant: string | undefined; readonly body: ImageRun['bodies'][number] }) {
  const [state, setState] = useState<ImagesState>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    const left = new AbortController()
    const urls: string[] = []
    const create = async () => {
      const response = await gatewayRequest('/images/generations', {
        tenant,
        method: 'POST',
        body,
        signal: left.signal,
      })
      const { blobs, note } = imageBlobs(await response.json())
      urls.push(...blobs.map((blob) => URL.createObjectURL(blob)))
      setState({ urls, note, cost: response.headers.get('x-reelgate-cost') })
    }
    create().catch((failure: unknown) => setError(left.signal.aborted ? undefined : describeFailure(failure)))
    return () => {
      left.abort()
      for (const url of urls) {
        URL.revokeObjectURL(url)
      }
    }
  }, [tenant, body])
  return (
    <article class="card run">
      <header class="card-head">
        <h3>{String(body.model)}</h3>
        <span role="status" class="hint">
          {state === undefined && error === undefined ? 'In progress' : ''}
          {state?.cost ? (
            <>
              cost <Amount value={state.cost} />
            </>
          ) : null}
        </span>
      </header>
      <p class="run-prompt">{String(body.prompt)}</p>
      {error === undefined ? null : (
        <p class="callout callout-bad" role="alert">
          {error}
        </p>
      )}
      {state?.note === undefined ? null : <p class="hint">{state.note}</p>}
      <div class="images">
        {state?.urls.map((url, index) => (
          <img key={url} src={url} alt={`${String(body.prompt)} (${index + 1})`} />
        ))}
      </div>
    </article>
  )
}

/** The sizes that every model has a price for. */
function sharedSizes(models: PlaygroundProps['models']): readonly string[] {
  const [first = [], ...others] = models.map(({ pricing }) =>
    pricing.prices.map(({ size }) => size).filter((size) => typeof size === 'string' && size !== 'any'),
  )
  return [...new Set(first.filter((size) => others.every((sizes) => sizes.includes(size))).map(String))]
}
