import { keyIdOf } from '#core/api-key.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import { readLedgerRows, toLedgerEntry } from '#lambdas/admin/read-ledger.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { Deployment } from '../../lib/cli/admin/deployment.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

/** Nothing to lock or to bill. */
export const FREE_MODEL = 'chat-free'
/** In the catalogue, and on no channel. */
export const UNSERVED_MODEL = 'chat-unserved'

const MORE_MODELS = `
  - id: ${FREE_MODEL}
    kind: chat
    billing: token
    context_tokens: 128000
    max_output_tokens: 16384
    prices: [{ input_per_million: "0", output_per_million: "0" }]
  - id: ${UNSERVED_MODEL}
    kind: chat
    billing: token
    context_tokens: 128000
    max_output_tokens: 16384
    prices: [{ input_per_million: "0.15", output_per_million: "0.60" }]
`

/**
 * The shipped configuration with two more models, an upstream that must begin to answer within a second, and a breaker
 * that the failures of one test do not open for the next.
 */
function relayConfig(yaml: string): string {
  return `${yaml
    .replace('first_byte_seconds: 240', 'first_byte_seconds: 3')
    .replace('breaker: { failures: 5', 'breaker: { failures: 1000')
    .replace('      chat-default: ', `      ${FREE_MODEL}: chat-free-upstream\n      chat-default: `)}${MORE_MODELS}`
}

/** Far more reads than any settlement takes. */
const SETTLEMENT_READS_MAX = 2_000

export type RelayGateway = Gateway & {
  /** A tenant of its own with so many credits, and a key for it; `models` and `ratePerMinute` limit the key. */
  tenant(
    credits: string,
    models?: readonly string[],
    ratePerMinute?: number,
  ): Promise<{ readonly id: string; readonly key: string }>
  /** What the tenant has when nothing is held any more: a settlement follows the last byte of its answer. */
  balance(tenant: string): Promise<{ readonly available: string; readonly held: string; readonly spent: string }>
  ledger(tenant: string): Promise<readonly LedgerEntry[]>
  revoke(key: string): Promise<void>
}

/**
 * A gateway over the simulated upstreams, and its table as the admin command line opens it.
 * @param options by default for the shipped configuration with {@link FREE_MODEL} and {@link UNSERVED_MODEL}.
 */
export async function startRelayGateway(
  options: Parameters<typeof startGateway>[0] = { changeConfig: relayConfig },
): Promise<RelayGateway> {
  const gateway = await startGateway(options)
  const table = await new Deployment({ local: true, dataDirectory: gateway.dataDirectory, stage: '' }).table()
  const balance = async (tenant: string) => {
    const { available, held, spent } = (await getTenant(table, tenant)).balance
    return { available: formatCredits(available), held: formatCredits(held), spent: formatCredits(spent) }
  }
  const settledBalance = async (tenant: string) => {
    for (let read = 0; read < SETTLEMENT_READS_MAX; read += 1) {
      const found = await balance(tenant)
      if (found.held === '0') {
        return found
      }
    }
    throw new TypeError('a reservation stays open')
  }
  return {
    ...gateway,
    tenant: async (credits, models, ratePerMinute) => {
      const id = crypto.randomUUID()
      const key = generateApiKey()
      await makeTenant(table, { id, name: 'Relay', credits: parseCredits(credits) }, TESTER)
      await storeApiKey(
        table,
        { key, tenantId: id, models: models === undefined ? null : [...models], ratePerMinute },
        TESTER,
      )
      return { id, key }
    },
    balance: settledBalance,
    ledger: async (tenant) => {
      await settledBalance(tenant)
      return (await readLedgerRows(table, tenant)).map(toLedgerEntry)
    },
    revoke: async (key) => await revokeApiKey(table, keyIdOf(key) ?? '', TESTER),
  }
}
