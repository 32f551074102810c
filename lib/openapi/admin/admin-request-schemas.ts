import { changeKeyRequest, createKeyRequest, playgroundKeyRequest, rotationRequest } from '#core/console/key-request.ts'
import { createSessionRequest } from '#core/console/session-request.ts'
import { changeChannelRequest, changeModelRequest } from '#core/console/switch-request.ts'
import {
  adjustmentRequest,
  callbackSecretRequest,
  changeTenantRequest,
  createTenantRequest,
  grantRequest,
  suspensionRequest,
} from '#core/console/tenant-request.ts'

/** The request bodies of the admin API, by their names in the document. */
export const ADMIN_REQUEST_SCHEMAS = {
  CreateSession: createSessionRequest,
  CreateTenantRequest: createTenantRequest,
  ChangeTenantRequest: changeTenantRequest,
  GrantRequest: grantRequest,
  AdjustmentRequest: adjustmentRequest,
  SuspensionRequest: suspensionRequest,
  CallbackSecretRequest: callbackSecretRequest,
  CreateKeyRequest: createKeyRequest,
  ChangeKeyRequest: changeKeyRequest,
  RotationRequest: rotationRequest,
  PlaygroundKeyRequest: playgroundKeyRequest,
  ChangeChannelRequest: changeChannelRequest,
  ChangeModelRequest: changeModelRequest,
} as const
