import { useQuery } from '@tanstack/preact-query'
import type { ApiError } from './api-error.ts'
import { gatewayRequest } from './gateway-request.ts'
import type { GatewayModel, GatewayModels } from './gateway-types.ts'

/** The models that the key of the playground may use. */
export function useGatewayModels(tenant: string | undefined) {
  return useQuery<readonly GatewayModel[], ApiError>({
    queryKey: ['gateway models', tenant],
    queryFn: async ({ signal }) => {
      const response = await gatewayRequest('/models', { tenant, signal })
      return ((await response.json()) as GatewayModels).data
    },
  })
}
