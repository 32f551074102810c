import type { KeyRow } from '../../api/admin-types.ts'

/** What an owner may do with a key. */
export type KeyAction =
  | { readonly kind: 'change' | 'rotate' | 'revoke' | 'restore'; readonly row: KeyRow }
  | { readonly kind: 'create' }
