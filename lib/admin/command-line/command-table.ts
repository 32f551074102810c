import { tenantAlerts } from '../alerts/alert-commands.ts'
import { alertList } from '../alerts/alert-list.ts'
import { audit } from '../audit/audit-command.ts'
import { catalogueCheck, catalogueDiff } from '../catalogue/catalogue-commands.ts'
import { consoleKeyCreate, consoleKeyList, consoleKeyRevoke } from '../console/console-key-commands.ts'
import { consoleLink } from '../console/console-link-command.ts'
import { consoleOidcSecretRemove, consoleOidcSecretSet } from '../console/oidc-secret-commands.ts'
import { health } from '../health/health-command.ts'
import { jobFind, jobShow, jobTimeline } from '../jobs/job-commands.ts'
import { jobList } from '../jobs/job-list.ts'
import { jobCancel, jobRedrive } from '../jobs/job-repair-commands.ts'
import { keyCreate, keyList, keyRevoke } from '../keys/key-commands.ts'
import { keyRotate } from '../keys/key-rotation.ts'
import { keySet } from '../keys/key-set-command.ts'
import { ledgerShow, ledgerVerify } from '../ledger/ledger-commands.ts'
import { ledgerExport } from '../ledger/ledger-export.ts'
import { callbackSecretRotate, callbackSecretShow } from '../secrets/callback-secret-commands.ts'
import { cdnKeyImport, cdnKeyList, cdnKeyRemove, cdnKeyRotate } from '../secrets/cdn-key-commands.ts'
import { secretList, secretRemove, secretSet } from '../secrets/channel-secret-commands.ts'
import { frontDoorFinish, frontDoorRotate } from '../secrets/front-door-commands.ts'
import { stackTrace } from '../stack-trace-command.ts'
import {
  channelClear,
  channelDisable,
  channelEnable,
  channelPrioritySet,
  channelWeightSet,
} from '../switches/channel-commands.ts'
import { channelList } from '../switches/channel-list.ts'
import { modelClear, modelDisable, modelEnable, modelList } from '../switches/model-commands.ts'
import { tenantBudget } from '../tenants/tenant-budget-command.ts'
import { tenantCreate, tenantLimit, tenantList, tenantShow } from '../tenants/tenant-commands.ts'
import { tenantAdjust, tenantGrant } from '../tenants/tenant-credit-commands.ts'
import { tenantResume, tenantSuspend } from '../tenants/tenant-state-commands.ts'
import { usage } from '../usage/usage-command.ts'
import type { Command } from './command.ts'

/** Every command of `npm run admin`, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  tenantCreate,
  tenantShow,
  tenantList,
  tenantGrant,
  tenantAdjust,
  tenantSuspend,
  tenantResume,
  tenantLimit,
  tenantBudget,
  tenantAlerts,
  alertList,
  keyCreate,
  keyList,
  keySet,
  keyRotate,
  keyRevoke,
  callbackSecretShow,
  callbackSecretRotate,
  consoleKeyCreate,
  consoleKeyList,
  consoleKeyRevoke,
  consoleLink,
  consoleOidcSecretSet,
  consoleOidcSecretRemove,
  jobFind,
  jobShow,
  jobTimeline,
  jobList,
  jobCancel,
  jobRedrive,
  ledgerShow,
  ledgerExport,
  ledgerVerify,
  usage,
  audit,
  catalogueCheck,
  catalogueDiff,
  channelList,
  channelDisable,
  channelEnable,
  channelWeightSet,
  channelPrioritySet,
  channelClear,
  modelList,
  modelDisable,
  modelEnable,
  modelClear,
  secretSet,
  secretList,
  secretRemove,
  cdnKeyList,
  cdnKeyRotate,
  cdnKeyRemove,
  cdnKeyImport,
  frontDoorRotate,
  frontDoorFinish,
  health,
  stackTrace,
]
