import { adminUsageResponse } from '#core/console/admin-usage-response.ts'
import { auditListResponse } from '#core/console/audit-response.ts'
import { channelsResponse } from '#core/console/channels-response.ts'
import { keyListResponse, keyResponse } from '#core/console/key-response.ts'
import { ledgerListResponse, ledgerVerificationResponse } from '#core/console/ledger-response.ts'
import { overviewResponse } from '#core/console/overview-response.ts'
import { budgetResponse, tenantName } from '#core/console/response-parts.ts'
import { sessionListResponse, sessionResponse, signInResponse } from '#core/console/session-response.ts'
import { tenantDetailResponse, tenantListResponse } from '#core/console/tenant-response.ts'
import {
  callbackAttemptListResponse,
  callbackAttemptResponse,
  videoDetailResponse,
  videoListResponse,
} from '#core/console/video-response.ts'
import {
  adjustmentResponse,
  callbackSecretResponse,
  changedKeyResponse,
  changedTenantResponse,
  channelSwitchesResponse,
  grantResponse,
  modelSwitchesResponse,
  newKeyResponse,
  playgroundKeyResponse,
  rotatedKeyResponse,
  videoCancellationResponse,
  videoRedriveResponse,
} from '#core/console/write-response.ts'
import { openaiErrorResponse } from '#core/contract/error-response.ts'
import { modelPriceResponse } from '#core/contract/model-response.ts'
import { videoCallbackAttemptResponse } from '#core/contract/video-callback-response.ts'
import { videoReceiptResponse } from '#core/contract/video-receipt-response.ts'

/** The responses of the admin API and their common parts, by their names in the document. */
export const ADMIN_RESPONSE_SCHEMAS = {
  SignIn: signInResponse,
  Session: sessionResponse,
  SessionList: sessionListResponse,
  Overview: overviewResponse,
  Usage: adminUsageResponse,
  VideoList: videoListResponse,
  VideoDetail: videoDetailResponse,
  VideoReceipt: videoReceiptResponse,
  TenantDetail: tenantDetailResponse,
  TenantList: tenantListResponse,
  Key: keyResponse,
  KeyList: keyListResponse,
  LedgerList: ledgerListResponse,
  LedgerVerification: ledgerVerificationResponse,
  Channels: channelsResponse,
  AuditList: auditListResponse,
  CallbackAttempt: callbackAttemptResponse,
  CallbackAttemptList: callbackAttemptListResponse,
  ChangedTenant: changedTenantResponse,
  Grant: grantResponse,
  Adjustment: adjustmentResponse,
  CallbackSecret: callbackSecretResponse,
  ChangedKey: changedKeyResponse,
  NewKey: newKeyResponse,
  RotatedKey: rotatedKeyResponse,
  PlaygroundKey: playgroundKeyResponse,
  VideoCancellation: videoCancellationResponse,
  VideoRedrive: videoRedriveResponse,
  VideoCallback: videoCallbackAttemptResponse,
  ChannelSwitches: channelSwitchesResponse,
  ModelSwitches: modelSwitchesResponse,
  TenantName: tenantName,
  Budget: budgetResponse,
  ModelPrice: modelPriceResponse,
  Error: openaiErrorResponse,
} as const
