import { useQuery } from '@tanstack/preact-query'
import type { ApiError } from './api-error.ts'
import { gatewayRequest } from './gateway-request.ts'

type Range = { readonly min: number; readonly max: number }

/** A model as `GET /v1/models` describes it. */
export type GatewayModel = {
  readonly id: string
  readonly kind: 'chat' | 'embedding' | 'image' | 'video'
  readonly owned_by: string
  readonly context_window?: number
  readonly max_output_tokens?: number
  readonly input_modalities: readonly string[]
  readonly pricing: { readonly billing: string; readonly prices: readonly Readonly<Record<string, unknown>>[] }
  readonly durations?: Range
  readonly resolutions?: readonly string[]
  readonly references?: { readonly images: Range; readonly videos: Range; readonly audios: Range }
}

/** The models that the key of the playground may use. */
export function useGatewayModels(tenant: string | undefined) {
  return useQuery<readonly GatewayModel[], ApiError>({
    queryKey: ['gateway models', tenant],
    queryFn: async ({ signal }) => {
      const response = await gatewayRequest('/models', { tenant, signal })
      return ((await response.json()) as { readonly data: readonly GatewayModel[] }).data
    },
  })
}
