import { useEffect, useState } from 'preact/hooks'
import { gatewayRequest } from '../../api/gateway-request.ts'
import { describeFailure } from '../../components/action-dialog.tsx'
import { Amount } from '../../components/amount.tsx'
import { Button } from '../../components/button.tsx'
import { imageBlobs } from '../../core/playground/image-blobs.ts'
import { FIRST_IMAGE_CHOICE, fitImageChoice, imageBody } from '../../core/playground/image-choice.ts'
import { CopyAs } from './copy-as.tsx'
import { ImageForm } from './image-form.tsx'
import { ModelFacts } from './model-facts.tsx'
import type { PlaygroundProps } from './playground-props.ts'

type ImageRun = { readonly id: string; readonly bodies: readonly Readonly<Record<string, unknown>>[] }

/** Creates images with one model or two, side by side. */
export function ImagePlayground({ tenant, models }: PlaygroundProps) {
  const [wanted, setWanted] = useState(FIRST_IMAGE_CHOICE)
  const [runs, setRuns] = useState<readonly ImageRun[]>([])
  const choice = fitImageChoice(wanted, models)
  const bodies = models.map(({ id }) => imageBody(id, choice))
  const blocked = choice.prompt.trim() === '' ? 'Write a prompt first' : undefined
  const send = (event: Event) => {
    event.preventDefault()
    if (blocked === undefined) {
      setRuns([{ id: crypto.randomUUID(), bodies }, ...runs])
    }
  }
  return (
    <div class="playground">
      <form class="card playground-form" onSubmit={send}>
        <ImageForm models={models} choice={choice} onChange={setWanted} />
        <div class="playground-send">
          <Button type="submit" kind="primary" icon="playground" blockedBecause={blocked}>
            {choice.count === 1 ? 'Create the image' : 'Create the images'}
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
