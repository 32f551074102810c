import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { InvalidApiKeyError, ServiceUnavailableError } from '#core/errors.ts'
import {
  commonModels,
  type IdentitySettings,
  limitsOf,
  lowerRate,
  matchingRule,
  NoIdentityRuleError,
  type SubjectLimits,
} from '#core/identity.ts'
import { once, RecentValues } from '#platform/cache.ts'
import { environmentVariable } from '#platform/configuration.ts'
import { logger } from '#platform/telemetry/logger.ts'
import type { Caller } from '#store/callers.ts'
import { admitSubject, digestOfSubject, isAdmitted, type Subject } from '#store/keys/subject-keys.ts'
import type { Table } from '#store/table/table.ts'
import { listTenantNames, readTenantState } from '#store/tenants/tenants.ts'
import { TokenVerifier } from '#upstream/token-verifier.ts'
import { openCallerTable } from './caller-context.ts'

/** Loaded with the first token of an issuer, so that nobody else pays for it. */
const verifier = once(() => {
  const file = resolve(process.env.LAMBDA_TASK_ROOT ?? '.', environmentVariable('IDENTITY_FILE'))
  // biome-ignore lint/plugin: written by the deployment, checked before.
  const settings: IdentitySettings = JSON.parse(readFileSync(file, 'utf8'))
  return new TokenVerifier(settings)
})

/** Subjects whose keys are being made, by digest. */
const admissions = new Map<string, Promise<void>>()

/** A subject whose token has been verified. */
export type TokenSubject = Pick<Subject, 'digest'> & {
  /**
   * Finds the subject as a caller, after its key was made or a changed rule was applied where that is needed. Undefined for one that may not
   * be used.
   */
  find<Found extends { readonly caller: Caller }>(lookUp: () => Promise<Found | undefined>): Promise<Found | undefined>
}

/**
 * Verifies a token and finds the rule that it meets. Undefined for a text that is no token of a listed issuer.
 * @throws InvalidTokenError, NoIdentityRuleError, ServiceUnavailableError.
 */
export async function readTokenSubject(token: string): Promise<TokenSubject | undefined> {
  const verified = await verifier().verify(token)
  if (verified === undefined) {
    return undefined
  }
  const { issuer, subject, claims } = verified
  const rule = matchingRule(issuer.rules, claims)
  if (rule === undefined) {
    throw new NoIdentityRuleError()
  }
  const tenantId = await tenantIdOf(openCallerTable(), rule.tenant)
  const limits = limitsOf(rule)
  const digest = digestOfSubject({ issuer: issuer.issuer, subject, tenantId })
  const admitted = { digest, issuer: issuer.issuer, subject, tenantId, limits }
  return {
    digest,
    async find(lookUp) {
      const known = await foundOrUndefined(lookUp)
      if (known !== undefined && isAdmitted(known.caller, limits, Date.now())) {
        return known
      }
      await admitOnce(openCallerTable(), admitted)
      return within(await foundOrUndefined(lookUp), limits)
    },
  }
}

/** Bounds a caller by the rule of this very token: its key may have the limits of a rule that another token of the subject meets. */
function within<Found extends { readonly caller: Caller }>(
  found: Found | undefined,
  { models, ratePerMinute }: SubjectLimits,
): Found | undefined {
  if (found === undefined) {
    return undefined
  }
  const { caller } = found
  const rate = lowerRate(caller.ratePerMinute ?? null, ratePerMinute) ?? undefined
  return { ...found, caller: { ...caller, models: commonModels(caller.models, models), ratePerMinute: rate } }
}

/** Requests of a process that arrive at once make the key together. */
async function admitOnce(table: Table, subject: Subject): Promise<void> {
  const running =
    admissions.get(subject.digest) ??
    admitSubject(table, subject, Date.now()).finally(() => admissions.delete(subject.digest))
  admissions.set(subject.digest, running)
  await running
}

/** Some look-ups throw for a key that they do not find. */
async function foundOrUndefined<Found>(lookUp: () => Promise<Found | undefined>): Promise<Found | undefined> {
  try {
    return await lookUp()
  } catch (error) {
    if (error instanceof InvalidApiKeyError) {
      return undefined
    }
    throw error
  }
}

/** How long the tenant of a rule is remembered: names of tenants may change. */
const TENANT_MILLISECONDS = 60_000

const TENANTS_MAX = 1_000

const tenantIds = new RecentValues<{ readonly id: string; readonly readAt: number }>(TENANTS_MAX)

/** @throws ServiceUnavailableError for a tenant that does not exist, or a name that several have. */
async function tenantIdOf(table: Table, idOrName: string): Promise<string> {
  const kept = tenantIds.get(idOrName)
  if (kept !== undefined && Date.now() - kept.readAt < TENANT_MILLISECONDS) {
    return kept.id
  }
  const isId = (await readTenantState(table, idOrName)) !== undefined
  const id = isId ? idOrName : await idOfName(table, idOrName)
  tenantIds.set(idOrName, { id, readAt: Date.now() })
  return id
}

async function idOfName(table: Table, tenantName: string): Promise<string> {
  const [found, ...others] = (await listTenantNames(table)).filter(({ name }) => name === tenantName)
  if (found === undefined || others.length > 0) {
    const reason = found === undefined ? 'no such tenant' : 'several tenants have this name'
    logger.error('an identity rule has no tenant', { ruleTenant: tenantName, reason })
    throw new ServiceUnavailableError()
  }
  return found.id
}
