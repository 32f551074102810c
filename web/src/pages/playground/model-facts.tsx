import type { GatewayModel } from '../../api/gateway-models.ts'
import { REFERENCE_KINDS } from '../../core/playground/video-choice.ts'

/** What each model takes and costs. */
export function ModelFacts({ models }: { readonly models: readonly GatewayModel[] }) {
  return (
    <details class="model-facts">
      <summary>What {models.map(({ id }) => id).join(' and ')} takes and costs</summary>
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
            {model.pricing.prices.map((price, index) => (
              <div key={index}>
                <dt>{index === 0 ? `Price (${model.pricing.billing.replaceAll('_', ' ')})` : ''}</dt>
                <dd>
                  {Object.entries(price)
                    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
                    .join(', ')}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </details>
  )
}

function factsOf(model: GatewayModel): readonly (readonly [string, string])[] {
  const { durations, resolutions, references, context_window: window, max_output_tokens: output } = model
  return [
    ['Provider', model.owned_by],
    ...(durations === undefined ? [] : [['Seconds', `${durations.min} to ${durations.max}`] as const]),
    ...(resolutions === undefined ? [] : [['Resolutions', resolutions.join(', ')] as const]),
    ...(references === undefined
      ? []
      : REFERENCE_KINDS.map((kind) => [`References: ${kind}`, rangeOf(references[kind])] as const)),
    ...(window === undefined ? [] : [['Context', `${window.toLocaleString('en')} tokens`] as const]),
    ...(output === undefined ? [] : [['Output', `up to ${output.toLocaleString('en')} tokens`] as const]),
  ]
}

function rangeOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return max === 0 ? 'none' : `${min} to ${max}`
}
