import { existsSync, readFileSync } from 'node:fs'
import { bearerKey, isPlausibleKey, keyIdOf } from '#core/api-key.ts'
import type { Microcredits } from '#core/money.ts'
import { signCallback } from '#platform/callback-signature.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { isRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { getTenant, type Tenant } from '#store/tenants/tenants.ts'
import { readWebhookSecrets, rotateWebhookSecret } from '#store/tenants/webhook-secrets.ts'
import { OperatorError } from '../config/operator-error.ts'
import { replaceFile } from '../config/replace-file.ts'
import type { DataDirectory } from './data-directory.ts'
import { localActor } from './local-actor.ts'

/** The tenant of every local host. */
const DEMO_TENANT_ID = 'demo'

/** The demo tenant with a valid key, and whether this start created the tenant. */
export type DemoAccess = { readonly tenant: Tenant; readonly key: string; readonly isTenantNew: boolean }

type DemoTenantOptions = {
  /** The first grant. */
  readonly credits: Microcredits
  readonly apiKey: string | undefined
  /** Signs the callbacks of the tenant; undefined leaves it the secret that it has. */
  readonly webhookSecret?: string | undefined
  readonly data: DataDirectory
}

/** Creates the demo tenant at the first start, with the given key, or with one that stays the same over restarts. */
export async function openDemoTenant(
  table: Table,
  { credits, apiKey, webhookSecret, data }: DemoTenantOptions,
): Promise<DemoAccess> {
  requireSigning(webhookSecret)
  const key = apiKey ?? keptKey(data.file('demo-key'))
  requireUsable(key)
  const isTenantNew = await createDemoTenant(table, credits)
  await storeApiKey(table, { key, tenantId: DEMO_TENANT_ID, name: 'demo', models: null }, localActor())
  if (webhookSecret !== undefined) {
    await useWebhookSecret(table, webhookSecret)
  }
  return { tenant: await getTenant(table, DEMO_TENANT_ID), key, isTenantNew }
}

/** Signs callbacks with this secret alone from now on. */
async function useWebhookSecret(table: Table, secret: string): Promise<void> {
  const { current } = await readWebhookSecrets(table, DEMO_TENANT_ID, { nowMilliseconds: Date.now() })
  if (current !== secret) {
    const rotation = { replaces: current, secret, previousUntil: undefined, actor: localActor() }
    await rotateWebhookSecret(table, DEMO_TENANT_ID, rotation)
  }
}

async function createDemoTenant(table: Table, credits: Microcredits): Promise<boolean> {
  try {
    await makeTenant(table, { id: DEMO_TENANT_ID, name: 'Demo', credits }, localActor())
    return true
  } catch (error) {
    if (isRefusal(error, 'id_taken')) {
      return false
    }
    throw error
  }
}

/** A key with a wrong checksum, or with characters that a header cannot carry, would be refused in every request. */
function requireUsable(key: string): void {
  if (bearerKey(`Bearer ${key}`) !== key) {
    throw new OperatorError('--api-key: use visible ASCII characters without spaces, at most 512')
  }
  if (!isPlausibleKey(key)) {
    throw new OperatorError(
      '--api-key: a key that begins with rg_live_ needs the checksum of one; leave it out to get a new key',
    )
  }
}

function requireSigning(secret: string | undefined): void {
  if (secret === undefined) {
    return
  }
  try {
    signCallback({ secrets: [secret], id: '', timestampSeconds: 0, body: '' })
  } catch (error) {
    throw new OperatorError(`--webhook-secret: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** A new key is created if the file was emptied or truncated. */
function keptKey(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (keyIdOf(kept) !== undefined && isPlausibleKey(kept)) {
    return kept
  }
  const key = generateApiKey()
  replaceFile(file, key, 0o600)
  return key
}
