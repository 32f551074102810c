import { Field } from '../../components/field.tsx'
import { type ImageChoice, type ImageModel, imageCountLimit, sharedValues } from '../../core/playground/image-choice.ts'

type ImageFormProps = {
  readonly models: readonly ImageModel[]
  readonly choice: ImageChoice
  readonly onChange: (choice: ImageChoice) => void
}

/** What an image is made from. What a model does not take says why. */
export function ImageForm({ models, choice, onChange }: ImageFormProps) {
  const { max, refusal } = imageCountLimit(models)
  return (
    <>
      <Field label="Prompt">
        {(control) => (
          <textarea
            {...control}
            rows={4}
            value={choice.prompt}
            onInput={(event) => onChange({ ...choice, prompt: event.currentTarget.value })}
          />
        )}
      </Field>
      <div class="field-row">
        <Choice
          label="Size"
          values={sharedValues(models, 'sizes')}
          value={choice.size}
          onChange={(size) => onChange({ ...choice, size })}
        />
        <Choice
          label="Quality"
          values={sharedValues(models, 'qualities')}
          value={choice.quality}
          onChange={(quality) => onChange({ ...choice, quality })}
        />
        <Choice
          label="Style"
          values={sharedValues(models, 'styles')}
          value={choice.style}
          onChange={(style) => onChange({ ...choice, style })}
        />
      </div>
      <Field label="Images" hint={refusal ?? `1 to ${max}`}>
        {(control) => (
          <input
            {...control}
            type="number"
            min={1}
            max={max}
            disabled={max === 1}
            value={choice.count}
            onInput={(event) => onChange({ ...choice, count: Math.trunc(Number(event.currentTarget.value)) || 1 })}
          />
        )}
      </Field>
    </>
  )
}

type ChoiceProps = {
  readonly label: string
  readonly values: readonly string[]
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A parameter that the model fills in where nobody does. */
function Choice({ label, values, value, onChange }: ChoiceProps) {
  return (
    <Field label={label} {...(values.length === 0 ? { hint: 'Nothing to choose' } : {})}>
      {(control) => (
        <select
          {...control}
          disabled={values.length === 0}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">Default</option>
          {values.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
    </Field>
  )
}
