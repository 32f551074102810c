import type { GatewayModel } from '../../api/gateway-types.ts'
import { REFERENCE_KINDS } from '../../core/playground/video-choice.ts'
import { priceWords } from '../../core/price-words.ts'

/** What each model takes and costs. */
export function ModelFacts({ models }: { readonly models: readonly GatewayModel[] }) {
  return (
    <details class="model-facts">
      <summary>
        What {models.map(({ id }) => id).join(' and ')} {models.length === 1 ? 'takes and costs' : 'take and cost'}
      </summary>
      {models.map((model) => (
        <div key={model.id}>
          <h3>{model.id}</h3>
          <dl class="run-facts">
            {factsOf(model).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
            {priceWords(model.pricing).map((words, index) => (
              <div key={words}>
                <dt>{index === 0 ? 'Price in credits' : ''}</dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </details>
  )
}

function factsOf(model: GatewayModel): readonly (readonly [string, string])[] {
  const { durations, resolutions, references, sizes, qualities, styles, n: count } = model
  const { context_window: window, max_output_tokens: output } = model
  return [
    ['Provider', model.owned_by],
    ...(durations === undefined ? [] : [['Seconds', `${durations.min} to ${durations.max}`] as const]),
    ...(resolutions === undefined ? [] : [['Resolutions', resolutions.join(', ')] as const]),
    ...(references === undefined
      ? []
      : REFERENCE_KINDS.map((kind) => [`References: ${kind}`, rangeOf(references[kind])] as const)),
    ...(sizes === undefined ? [] : [['Sizes', sizes.join(', ')] as const]),
    ...(qualities === undefined ? [] : [['Qualities', qualities.join(', ')] as const]),
    ...(styles === undefined ? [] : [['Styles', styles.join(', ')] as const]),
    ...(count === undefined ? [] : [['Images a request', count.max === 1 ? '1' : rangeOf(count)] as const]),
    ...(window === undefined ? [] : [['Context', `${window.toLocaleString('en')} tokens`] as const]),
    ...(output === undefined ? [] : [['Output', `up to ${output.toLocaleString('en')} tokens`] as const]),
  ]
}

function rangeOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return max === 0 ? 'none' : `${min} to ${max}`
}
