import type { GatewayModel } from '../../api/gateway-types.ts'
import { Field } from '../../components/field.tsx'
import {
  ASPECT_RATIOS,
  REFERENCE_KINDS,
  RESOLUTIONS,
  type ReferenceKind,
  referenceLimits,
  resolutionRefusal,
  sharedDurations,
  type VideoChoice,
} from '../../core/playground/video-choice.ts'

type VideoFormProps = {
  readonly models: readonly GatewayModel[]
  readonly choice: VideoChoice
  readonly onChange: (choice: VideoChoice) => void
}

/** What a video is made from. What a model does not take stays visible and says why. */
export function VideoForm({ models, choice, onChange }: VideoFormProps) {
  const range = sharedDurations(models) ?? { min: choice.duration, max: choice.duration }
  return (
    <>
      <Field label="Prompt">
        {(control) => (
          <textarea
            {...control}
            rows={4}
            required
            value={choice.prompt}
            onInput={(event) => onChange({ ...choice, prompt: event.currentTarget.value })}
          />
        )}
      </Field>
      <div class="field-row">
        <Field label={`Seconds: ${choice.duration}`} hint={`${range.min} to ${range.max}`}>
          {(control) => (
            <input
              {...control}
              type="range"
              min={range.min}
              max={range.max}
              value={choice.duration}
              onInput={(event) => onChange({ ...choice, duration: Number(event.currentTarget.value) })}
            />
          )}
        </Field>
        <Field label="Resolution">
          {(control) => (
            <select
              {...control}
              value={choice.resolution}
              onChange={(event) => onChange({ ...choice, resolution: event.currentTarget.value })}
            >
              {RESOLUTIONS.map((each) => {
                const refusal = resolutionRefusal(models, each)
                return (
                  <option key={each} value={each} disabled={refusal !== undefined}>
                    {refusal === undefined ? each : `${each} (${refusal})`}
                  </option>
                )
              })}
            </select>
          )}
        </Field>
        <Field label="Aspect ratio">
          {(control) => (
            <select
              {...control}
              value={choice.aspectRatio}
              onChange={(event) => onChange({ ...choice, aspectRatio: event.currentTarget.value })}
            >
              {ASPECT_RATIOS.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={choice.hasAudio}
          onChange={(event) => onChange({ ...choice, hasAudio: event.currentTarget.checked })}
        />
        Audio (if supported)
      </label>
      <References models={models} choice={choice} onChange={onChange} />
    </>
  )
}

const TITLES: Readonly<Record<ReferenceKind, string>> = { images: 'Images', videos: 'Videos', audios: 'Sounds' }

function References({ models, choice, onChange }: VideoFormProps) {
  const change = (kind: ReferenceKind, value: string) =>
    onChange({ ...choice, references: { ...choice.references, [kind]: value } })
  const isNeeded = REFERENCE_KINDS.some((kind) => referenceLimits(models, kind).min > 0)
  return (
    <details class="references" open={isNeeded}>
      <summary>References</summary>
      {REFERENCE_KINDS.map((kind) => {
        const { min, max, refusal } = referenceLimits(models, kind)
        const hint = refusal ?? `Urls, one per line, ${min === 0 ? 'up to' : `${min} to`} ${max}`
        return (
          <Field key={kind} label={TITLES[kind]} hint={hint}>
            {(control) => (
              <textarea
                {...control}
                rows={2}
                spellcheck={false}
                disabled={refusal !== undefined}
                value={refusal === undefined ? choice.references[kind] : ''}
                onInput={(event) => change(kind, event.currentTarget.value)}
              />
            )}
          </Field>
        )
      })}
    </details>
  )
}
