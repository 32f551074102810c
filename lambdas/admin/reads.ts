import { AUDIT_READS } from './audit.ts'
import { CALLBACK_READS } from './callback-attempts.ts'
import { CHANNEL_READS } from './channels.ts'
import { KEY_READS } from './keys.ts'
import { LEDGER_READS } from './ledger.ts'
import type { AdminOperation } from './operation.ts'
import { OVERVIEW_READS } from './overview.ts'
import { REQUEST_READS } from './requests.ts'
import { TENANT_READS } from './tenants.ts'
import { USAGE_READS } from './usage.ts'

/** Every defined operation that reads, in the order of `admin-openapi.json`. */
export const READS: readonly AdminOperation[] = [
  ...OVERVIEW_READS,
  ...USAGE_READS,
  ...TENANT_READS,
  ...KEY_READS,
  ...CHANNEL_READS,
  ...LEDGER_READS,
  ...REQUEST_READS,
  ...AUDIT_READS,
  ...CALLBACK_READS,
]
