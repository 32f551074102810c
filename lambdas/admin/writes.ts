import { CALLBACK_SECRET_WRITES } from './callback-secrets.writes.ts'
import { CHANNEL_WRITES } from './channels.writes.ts'
import { KEY_WRITES } from './keys.writes.ts'
import type { AdminOperation } from './operation.ts'
import { TENANT_WRITES } from './tenants.writes.ts'

/** Every defined operation that writes, in the order of `admin-openapi.json`. */
export const WRITES: readonly AdminOperation[] = [
  ...TENANT_WRITES,
  ...KEY_WRITES,
  ...CALLBACK_SECRET_WRITES,
  ...CHANNEL_WRITES,
]
