import type { ApiKeyListing } from '#store/keys/api-keys.ts'

/** How requests with a key are treated. */
export type KeyState = 'revoked' | 'expired' | 'suspended' | 'active'

/** How requests with the key are treated. The first state that applies counts. */
export function stateOf(
  { state, suspended, expiresAt }: Pick<ApiKeyListing, 'state' | 'suspended' | 'expiresAt'>,
  nowMilliseconds: number,
): KeyState {
  if (state === 'revoked') {
    return 'revoked'
  }
  if (expiresAt !== null && expiresAt <= nowMilliseconds) {
    return 'expired'
  }
  return suspended ? 'suspended' : 'active'
}
