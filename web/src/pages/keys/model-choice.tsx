import { useAdmin } from '../../api/admin-query.ts'

type ModelChoiceProps = {
  /** Null means every model, also those that come later. */
  readonly chosen: readonly string[] | null
  readonly onChange: (chosen: readonly string[] | null) => void
}

/** Chooses the models of a key among those of the configuration. */
export function ModelChoice({ chosen, onChange }: ModelChoiceProps) {
  const models = useAdmin('/models')
  const known = models.data?.models.map(({ id }) => id) ?? []
  const ids = [...new Set([...known, ...(chosen ?? [])])]
  const toggle = (id: string, isChosen: boolean) => {
    const others = (chosen ?? []).filter((each) => each !== id)
    const next = isChosen ? [...others, id] : others
    onChange(next.length === 0 ? null : next)
  }
  return (
    <fieldset>
      <legend>Models</legend>
      <div class="options">
        <label class="check">
          <input type="checkbox" checked={chosen === null} onChange={() => onChange(null)} />
          All models
        </label>
        {ids.map((id) => (
          <label key={id} class="check">
            <input
              type="checkbox"
              checked={chosen?.includes(id) ?? false}
              onChange={(event) => toggle(id, event.currentTarget.checked)}
            />
            {id}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
