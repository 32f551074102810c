import { randomUUID } from 'node:crypto'
import {
  GetSecretValueCommand,
  InvalidParameterException,
  InvalidRequestException,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager'

/** Another writer has changed the secret since it was read. Nothing was overwritten. */
export class SecretChangedError extends Error {
  override readonly name = 'SecretChangedError'
}

/** A secret as it was read: its value, `{}` where there is none, and the version that a replacement builds on. */
export type SecretVersion = { readonly text: string; readonly versionId: string | undefined }

/** The label of a version that is written but not yet current. */
const NEXT = 'REELGATE_NEXT'
const CURRENT = 'AWSCURRENT'

/** Reads the current version of a secret. @throws the error of Secrets Manager. */
export async function readSecretVersion(client: SecretsManagerClient, secretId: string): Promise<SecretVersion> {
  const current = new GetSecretValueCommand({ SecretId: secretId, VersionStage: CURRENT })
  const { SecretString, VersionId } = await client.send(current)
  return { text: SecretString ?? '{}', versionId: VersionId }
}

/**
 * Replaces a secret if it has not changed since it was read. A put alone would overwrite the value of another writer, so the new
 * version is put beside the current one, and then the label of the current version is moved, which Secrets Manager does only
 * from the version that the writer names.
 * @returns the current version, for the next replacement to build on.
 * @throws SecretChangedError when another version has become current in the meantime.
 */
export async function replaceSecret(
  client: SecretsManagerClient,
  { secretId, read, text }: { secretId: string; read: SecretVersion; text: string },
): Promise<SecretVersion> {
  const versionId = randomUUID()
  const SecretId = secretId
  await client.send(
    new PutSecretValueCommand({
      SecretId,
      ClientRequestToken: versionId,
      SecretString: text,
      VersionStages: read.versionId === undefined ? [CURRENT] : [NEXT],
    }),
  )
  if (read.versionId !== undefined) {
    await makeCurrent(client, { SecretId, MoveToVersionId: versionId, RemoveFromVersionId: read.versionId })
  }
  return { text, versionId }
}

type LabelMove = { readonly SecretId: string; readonly MoveToVersionId: string; readonly RemoveFromVersionId: string }

async function makeCurrent(client: SecretsManagerClient, move: LabelMove): Promise<void> {
  try {
    await client.send(new UpdateSecretVersionStageCommand({ ...move, VersionStage: CURRENT }))
  } catch (error) {
    if (!(error instanceof InvalidParameterException || error instanceof InvalidRequestException)) {
      throw error
    }
    const { versionId } = await readSecretVersion(client, move.SecretId)
    // The label may have moved although the response was lost, so that the client repeated the request.
    if (versionId === move.MoveToVersionId) {
      return
    }
    throw versionId === move.RemoveFromVersionId
      ? error
      : new SecretChangedError('somebody else changed the secret at the same time', { cause: error })
  }
}
