import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { FIRST_CHOICE, fitChoice, videoBody } from '../../core/playground/video-choice.ts'
import { CopyAs } from './copy-as.tsx'
import { ModelFacts } from './model-facts.tsx'
import type { PlaygroundProps } from './playground-props.ts'
import { VideoForm } from './video-form.tsx'
import { useVideoQuotes, VideoQuotes } from './video-quotes.tsx'
import { VideoRun } from './video-run.tsx'

/** One press of the button: a job for each model. */
type Run = { readonly id: string; readonly bodies: readonly Readonly<Record<string, unknown>>[] }

/** Creates videos with one model or two, side by side. */
export function VideoPlayground({ tenant, models }: PlaygroundProps) {
  const [wanted, setWanted] = useState(FIRST_CHOICE)
  const [runs, setRuns] = useState<readonly Run[]>([])
  const choice = fitChoice(wanted, models)
  const bodies = models.map(({ id }) => videoBody(id, choice))
  const quotes = useVideoQuotes(tenant, bodies)
  const blocked = blockedBecause(choice.prompt, quotes)
  return (
    <div class="playground">
      <form
        class="card playground-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (blocked === undefined) {
            setRuns([{ id: crypto.randomUUID(), bodies }, ...runs])
          }
        }}
      >
        <VideoForm models={models} choice={choice} onChange={setWanted} />
        <VideoQuotes models={models} quotes={quotes} />
        <div class="playground-send">
          <Button type="submit" kind="primary" icon="playground" blockedBecause={blocked}>
            {models.length === 1 ? 'Create the video' : 'Create both videos'}
          </Button>
          <CopyAs kind="video" bodies={bodies} />
        </div>
        <ModelFacts models={models} />
      </form>
      <section class="playground-results" aria-label="Results">
        {runs.length === 0 ? <p class="playground-hint">The videos appear here.</p> : null}
        {runs.map((run) => (
          <div key={run.id} class="playground-run" data-count={run.bodies.length}>
            {run.bodies.map((body) => (
              <VideoRun
                key={String(body.model)}
                tenant={tenant}
                body={body}
                idempotencyKey={`${run.id}-${body.model}`}
              />
            ))}
          </div>
        ))}
      </section>
    </div>
  )
}

function blockedBecause(prompt: string, quotes: ReturnType<typeof useVideoQuotes>): string | undefined {
  if (prompt.trim() === '') {
    return 'Write a prompt first'
  }
  const refused = quotes.find(({ error }) => error !== null)
  if (refused?.error) {
    return refused.error.message
  }
  return quotes.some(({ data }) => data?.affordable === false) ? 'The balance, or a budget, is too low' : undefined
}
