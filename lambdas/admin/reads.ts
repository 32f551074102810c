import { listAudit } from './audit.ts'
import { listCallbackAttempts } from './callback-attempts.ts'
import { CHANNEL_READS } from './channels.ts'
import { KEY_READS } from './keys.ts'
import { LEDGER_READS } from './ledger.ts'
import type { AdminOperation } from './operation.ts'
import { getOverview } from './overview.ts'
import { listRequests } from './requests.ts'
import { TENANT_READS } from './tenants.ts'
import { getUsage } from './usage.ts'

/** Every defined operation that reads, in the order of `admin-openapi.json`. */
export const READS: readonly AdminOperation[] = [
  getOverview,
  getUsage,
  ...TENANT_READS,
  ...KEY_READS,
  ...CHANNEL_READS,
  ...LEDGER_READS,
  listRequests,
  listAudit,
  listCallbackAttempts,
]
