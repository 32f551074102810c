import {
  adjustmentRequest,
  callbackSecretRequest,
  changeChannelRequest,
  changeKeyRequest,
  changeModelRequest,
  changeTenantRequest,
  createKeyRequest,
  createTenantRequest,
  grantRequest,
  playgroundKeyRequest,
  rotationRequest,
  suspensionRequest,
} from '#core/admin/requests.ts'
import { createSessionRequest } from '#core/admin/sign-in.ts'

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
