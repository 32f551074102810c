import { readFileSync } from 'node:fs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Claims, unmetClaim } from '#core/claims.ts'
import { HttpError } from '#core/errors.ts'
import { type IdentityRule, matchingRule } from '#core/identity.ts'
import { stateOf } from '#lambdas/admin/keys.ts'
import { listApiKeys } from '#store/keys/api-keys.ts'
import { digestOfSubject, subjectKeyId } from '#store/keys/subject-keys.ts'
import { TokenVerifier } from '#upstream/issuer-tokens.ts'
import { loadGatewayConfig } from '../../config/load-gateway-config.ts'
import { CommandFailedError } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import { readDeployedConfig } from './catalogue.ts'
import type { AdminContext, Command } from './command.ts'
import { findTenantId } from './read-options.ts'

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
or the local host, and the output says whether the subject has a key. Exit code 1 for a token that is refused.`,
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
    const { name, tenant, models = null, rate, budget = null, budget_of_all: shared = null } = rule
    const key = file === undefined ? await keyOf(context, named, tenant) : {}
    const limits = { models, rate_per_minute: rate, budget, budget_of_all: shared }
    const json = { accepted: true, ...named, rule: name, tenant, ...key, ...limits }
    return {
      json,
      text: formatTable(
        [],
        Object.entries(json).map(([field, value]) => [field, shown(value)]),
      ),
    }
  },
}

/** @throws CommandFailedError saying which check failed. */
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
    const why = error.statusCode === 503 ? 'the keys of its issuer cannot be read' : error.explanation
    throw new CommandFailedError(`the token is refused: ${why}`)
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
  const text = `the token of ${named.subject} is valid, but no rule allows it\n${lines.join('\n')}`
  return { json: { accepted: false, ...named, unmet }, text, isOk: false }
}

/** The key that the subject has, or would get at its first use. */
async function keyOf(context: AdminContext, named: Named, tenant: string) {
  const table = await context.table()
  const tenantId = await findTenantId(table, tenant)
  const id = subjectKeyId(digestOfSubject({ ...named, tenantId }))
  const key = (await listApiKeys(table)).find(({ keyId }) => keyId === id)
  return { tenant: tenantId, key: id, state: key === undefined ? 'not used yet' : stateOf(key, Date.now()) }
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
