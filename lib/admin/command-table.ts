import { callbackSecretRotate, callbackSecretShow } from './callback-secret-commands.ts'
import { catalogueCheck, catalogueDiff } from './catalogue-commands.ts'
import { cdnKeyImport, cdnKeyList, cdnKeyRemove, cdnKeyRotate } from './cdn-key-commands.ts'
import { secretList, secretRemove, secretSet } from './channel-secret-commands.ts'
import type { Command } from './command.ts'
import { health } from './health-command.ts'
import { jobFind, jobShow, jobTimeline } from './job-commands.ts'
import { jobList } from './job-list.ts'
import { jobCancel, jobRedrive } from './job-repair-commands.ts'
import { keyCreate, keyList, keyRevoke } from './key-commands.ts'
import { keyRotate } from './key-rotation.ts'
import { ledgerShow, ledgerVerify } from './ledger-commands.ts'
import { ledgerExport } from './ledger-export.ts'
import {
  tenantCreate,
  tenantGrant,
  tenantLimit,
  tenantList,
  tenantResume,
  tenantShow,
  tenantSuspend,
} from './tenant-commands.ts'

/** Every command of `npm run admin`, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  tenantCreate,
  tenantShow,
  tenantList,
  tenantGrant,
  tenantSuspend,
  tenantResume,
  tenantLimit,
  keyCreate,
  keyList,
  keyRotate,
  keyRevoke,
  callbackSecretShow,
  callbackSecretRotate,
  jobFind,
  jobShow,
  jobTimeline,
  jobList,
  jobCancel,
  jobRedrive,
  ledgerShow,
  ledgerExport,
  ledgerVerify,
  catalogueCheck,
  catalogueDiff,
  secretSet,
  secretList,
  secretRemove,
  cdnKeyList,
  cdnKeyRotate,
  cdnKeyRemove,
  cdnKeyImport,
  health,
]
