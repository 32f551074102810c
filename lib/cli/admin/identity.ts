import { readFileSync } from 'node:fs'
import { formatBudgetLimit } from '#core/budgets.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Claims, unmetClaim } from '#core/claims.ts'
import { HttpError } from '#core/errors.ts'
import { type IdentityRule, limitsOf, matchingRule, type SubjectLimits } from '#core/identity.ts'
import { printable } from '#core/redaction.ts'
import { digestOfSubject, foreseeSubject, type Subject } from '#store/keys/subject-keys.ts'
import { TokenVerifier } from '#upstream/token-verifier.ts'
import { loadGatewayConfig } from '../../config/load-gateway-config.ts'
import { CommandFailedError } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import type { AdminContext, Command } from './command.ts'
import { readDeployedConfig } from './deployed-config.ts'
import { findRuleTenant } from './rule-tenants.ts'

/** A token with its white space is far shorter. */
const FILE_CHARACTERS_MAX = 20_000

/**
 * Says what a token would be: its rule, tenant, key and limits, or why it is refused. Never a word of the token but issuer and subject, and of
 * those only once the token has proved to be valid.
 */
export const identityTest: Command = {
  name: 'identity test',
  summary: 'say which rule a token of an identity issuer meets, or why it is refused',
  details: `The token comes from a file, or with \`-\` from standard input; it is never shown. Without --config the configuration is that of the stage
or the local host, and the output has the key of the subject and the limits that its next request will have, with what operators have lowered.
Exit code 1 for a token that is refused, also because the key of its subject is revoked or has expired.`,
  options: {
    'token-file': { value: 'FILE', summary: 'a file with the token, or `-` for standard input', required: true },
    config: { value: 'FILE', summary: 'a configuration that is not deployed' },
  },
  examples: ['identity test --token-file token.jwt --local', 'identity test --token-file - --stage prod --json'],
  async run(context, values) {
    const token = readToken(values.required('token-file'))
    const file = values.text('config')
    const config =
      file === undefined
        ? await readDeployedConfig(context)
        : loadGatewayConfig({ file, environment: process.env, mode: 'local' }).config
    const { issuer, subject, claims } = await verified(token, config)
    const named = { issuer: issuer.issuer, subject }
    const rule = matchingRule(issuer.rules, claims)
    if (rule === undefined) {
      return refusedByRules(named, issuer.rules, claims)
    }
    const limits = limitsOf(rule)
    const ofRule = { accepted: true, reason: undefined, ...named, rule: rule.name, tenant: rule.tenant }
    return file === undefined
      ? describeOutlook({ ...ofRule, ...(await outlookOf(context, { ...named, limits }, rule.tenant)) })
      : describeOutlook({ ...ofRule, ...limitFields(limits, limits) })
  },
}

const WITHOUT_ISSUER =
  'The gateway uses keys that it has read for up to 25 hours; where it has none, its callers get a 503 until the issuer responds'

/** @throws CommandFailedError saying which check failed, or why none could be made. */
async function verified(token: string, { identity, trusted_origins }: GatewayConfig) {
  try {
    const found = await new TokenVerifier({ ...identity, trusted_origins }).verify(token)
    if (found !== undefined) {
      return found
    }
  } catch (error) {
    if (!(error instanceof HttpError)) {
      throw error
    }
    throw new CommandFailedError(
      error.cause instanceof Error
        ? `the token cannot be checked, and may be good: ${error.cause.message}. ${WITHOUT_ISSUER}`
        : `the token is refused: ${error.explanation}`,
    )
  }
  const issuers = identity.issuers.map(({ issuer }) => issuer).join(', ')
  throw new CommandFailedError(
    `this is no token of a listed issuer: ${issuers === '' ? 'the configuration has none' : `listed are ${issuers}`}`,
  )
}

type Named = { readonly issuer: string; readonly subject: string }

function refusedByRules(named: Named, rules: readonly IdentityRule[], claims: Claims): Output {
  const unmet = rules.map(({ name, when }) => ({ rule: name, claim: unmetClaim(when, claims) ?? '' }))
  const lines = unmet.map(({ rule, claim }) => `  rule ${rule}: the claim ${claim} does not match`)
  const text = `the token of ${printable(named.subject)} is valid, but no rule allows it\n${lines.join('\n')}`
  return { json: { accepted: false, ...named, unmet }, text, isOk: false }
}

/** Why a subject is refused whose token is valid, by the state of its key. */
const REFUSED = {
  revoked: 'the key of its subject is revoked: `key restore` lets it call again',
  expired: 'the key of its subject has expired: `key set --expires` lets it call again',
  suspended: 'its tenant is suspended: `tenant resume` lets its subjects call again',
} as const

/** The key that the subject has, or would get at its first use, and what it may do. */
async function outlookOf(
  context: AdminContext,
  subject: Pick<Subject, 'issuer' | 'subject' | 'limits'>,
  tenant: string,
) {
  const table = await context.table()
  const { id: tenantId, problem } = await findRuleTenant(table, tenant)
  if (tenantId === undefined) {
    return { accepted: false, reason: `${problem}: requests get a 503` }
  }
  const digest = digestOfSubject({ ...subject, tenantId })
  const { keyId, state, ...holds } = await foreseeSubject(table, { ...subject, digest, tenantId }, Date.now())
  const reason = state === 'unused' || state === 'active' ? undefined : REFUSED[state]
  return {
    accepted: reason === undefined,
    reason,
    tenant: tenantId,
    key: keyId,
    state: state === 'unused' ? 'not used yet' : state,
    ...limitFields(holds, subject.limits),
  }
}

type Holding = Pick<SubjectLimits, 'models' | 'ratePerMinute' | 'budget'>

/** The limits that hold, by the names of the rule. */
function limitFields({ models, ratePerMinute, budget }: Holding, { sharesBudget }: SubjectLimits) {
  const text = budget && formatBudgetLimit(budget)
  return {
    models,
    rate_per_minute: ratePerMinute,
    budget: sharesBudget ? null : text,
    budget_of_all: sharesBudget ? text : null,
  }
}

function describeOutlook(json: { readonly accepted: boolean }): Output {
  const given = Object.entries(json).filter(([, value]) => value !== undefined)
  const rows = given.map(([field, value]) => [field, field === 'models' ? shown(value ?? 'all') : shown(value)])
  return { json, text: formatTable([], rows), isOk: json.accepted }
}

function shown(value: unknown): string | null {
  return value === null ? null : Array.isArray(value) ? value.join(', ') : String(value)
}

/** @throws CommandFailedError for a file that cannot be read, or holds no token. */
function readToken(file: string): string {
  let text: string
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch (error) {
    throw new CommandFailedError(`cannot read the token file ${file}`, { cause: error })
  }
  if (text === '' || text.length > FILE_CHARACTERS_MAX || /\s/.test(text)) {
    throw new CommandFailedError(`${file} does not hold one token and nothing else`)
  }
  return text
}
