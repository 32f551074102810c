import type { GatewayModel } from '../../api/gateway-types.ts'

/** What every kind of playground gets. */
export type PlaygroundProps = {
  /** Undefined for a session that belongs to a tenant. */
  readonly tenant: string | undefined
  /** The chosen model, and the one beside it. */
  readonly models: readonly GatewayModel[]
}
