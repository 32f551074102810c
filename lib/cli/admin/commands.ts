import { alertList, tenantAlerts } from './alerts.ts'
import { audit } from './audit.ts'
import { callbackSecretRotate, callbackSecretShow } from './callback-secrets.ts'
import { catalogueCheck, catalogueDiff } from './catalogue.ts'
import { cdnKeyImport, cdnKeyList, cdnKeyRemove, cdnKeyRotate } from './cdn-keys.ts'
import { CHANNEL_COMMANDS } from './channels.ts'
import type { Command } from './command.ts'
import {
  consoleKeyCreate,
  consoleKeyList,
  consoleKeyRevoke,
  consoleLink,
  consoleOidcSecretRemove,
  consoleOidcSecretSet,
} from './console.ts'
import { frontDoorFinish, frontDoorRotate } from './front-door.ts'
import { health } from './health.ts'
import { jobList } from './job-list.ts'
import { jobCancel, jobFind, jobRedrive, jobShow, jobTimeline } from './jobs.ts'
import { KEY_COMMANDS } from './keys.ts'
import { ledgerExport, ledgerShow, ledgerVerify } from './ledger.ts'
import { requestList } from './requests.ts'
import { secretList, secretRemove, secretSet } from './secrets.ts'
import { stackTrace } from './stack-trace.ts'
import { TENANT_COMMANDS } from './tenants.ts'
import { usage } from './usage.ts'

/** Every command of `npm run admin`, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...TENANT_COMMANDS,
  tenantAlerts,
  alertList,
  ...KEY_COMMANDS,
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
  requestList,
  usage,
  audit,
  catalogueCheck,
  catalogueDiff,
  ...CHANNEL_COMMANDS,
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
