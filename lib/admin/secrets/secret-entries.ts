import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { readSecretVersion, replaceSecret, SecretChangedError } from '#adapters/secrets/replace-secret.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'

/** The entries of a secret that is a JSON object, such as upstream keys by the names in `api_key` of the channels. */
export type SecretEntries = Readonly<Record<string, string>>

/** A secret of a stage, with the words for it in errors: `channel secret`. */
export type NamedSecret = { readonly arn: string; readonly name: string }

/** Concurrent writers are few and quick: the loser reads again. */
const TRIES_MAX = 5

const secretEntries = z.record(z.string(), z.string())

/** Parses a secret; undefined if it is not a JSON object of strings. Errors never quote it. */
export function parseSecretEntries(text: string): SecretEntries | undefined {
  try {
    return secretEntries.safeParse(JSON.parse(text)).data
  } catch {
    // The parser's error would quote the secret.
    return undefined
  }
}

/** The current entries. @throws CommandFailedError for a secret that is not a JSON object of strings. */
export async function readSecretEntries(secret: NamedSecret): Promise<SecretEntries> {
  return (await readEntries(secret, new SecretsManagerClient({}))).entries
}

/**
 * Changes the current secret, whoever else changes it at the same time; `change` may therefore run several times.
 * @returns the entries before the change, and the id of the new version.
 * @throws CommandFailedError if others keep changing the secret, for a secret that is not a JSON object of strings, and what `change`
 * throws.
 */
export async function changeSecretEntries(
  secret: NamedSecret,
  change: (entries: SecretEntries) => SecretEntries,
): Promise<{ readonly before: SecretEntries; readonly versionId: string | undefined }> {
  const client = new SecretsManagerClient({})
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { read, entries } = await readEntries(secret, client)
    const text = JSON.stringify(change(entries))
    try {
      const { versionId } = await replaceSecret(client, { secretId: secret.arn, read, text })
      return { before: entries, versionId }
    } catch (error) {
      if (!(error instanceof SecretChangedError)) {
        throw error
      }
    }
  }
  throw new CommandFailedError(`another process keeps changing the ${secret.name}: try again`)
}

async function readEntries({ arn, name }: NamedSecret, client: SecretsManagerClient) {
  const read = await readSecretVersion(client, arn)
  const entries = parseSecretEntries(read.text)
  if (entries === undefined) {
    throw new CommandFailedError(`the ${name} is not a JSON object of strings: correct its value in Secrets Manager`)
  }
  return { read, entries }
}
