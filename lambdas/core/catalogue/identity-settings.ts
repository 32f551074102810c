import * as z from 'zod'
import { parseBudgetLimit } from '../budgets.ts'
import { LOOPBACK_NAMES } from '../http.ts'
import { RATE_PER_MINUTE_DEFAULT, RATE_PER_MINUTE_MAX } from '../limits.ts'
import { claimConditions } from './claim-rules.ts'
import { strictObject } from './schema-parts.ts'

/** The issuer names itself in each token, letter by letter, so it is kept as it is written. */
export function isIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') {
    return false
  }
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK_NAMES.includes(url.hostname))
}

const PLAIN_MESSAGE =
  'use https; plain http is for an issuer on the machine of a local host (http://127.0.0.1:9000, http://localhost:9000)'

/** Why a text is no issuer, or no place of its keys. @param otherwise for whatever is not about http. */
export function issuerProblem(otherwise: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => (URL.parse(String(input))?.protocol === 'http:' ? PLAIN_MESSAGE : otherwise)
}

const ISSUER_MESSAGE =
  'use the issuer exactly as its tokens name it, such as https://login.example.com, without a query'

function isBudget(text: string): boolean {
  try {
    parseBudgetLimit(text)
    return true
  } catch {
    return false
  }
}

const BUDGET_MESSAGE = 'write credits per period, such as 5/month; periods: day, month, total'

const budget = z.string({ message: BUDGET_MESSAGE }).refine(isBudget, { message: BUDGET_MESSAGE })

const rule = strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'use lower-case letters, digits and hyphens, at most 64'),
  when: claimConditions,
  tenant: z.string().min(1).max(200).meta({ description: 'The id of the tenant, or a name that no other tenant has.' }),
  models: z.array(z.string().min(1)).min(1).max(200).optional().meta({
    description: 'Models that the subjects may use. Default: all.',
  }),
  rate: z.number().int().min(1).max(RATE_PER_MINUTE_MAX).nullable().default(RATE_PER_MINUTE_DEFAULT).meta({
    description: 'Requests per minute of each subject; null for no limit.',
  }),
  budget: budget.optional().meta({ description: 'The budget of each subject, such as 5/day.' }),
  budget_of_all: budget.optional().meta({
    description: 'A budget that all subjects of the rule share, such as 100/month.',
  }),
}).refine((row) => row.budget === undefined || row.budget_of_all === undefined, {
  message: 'use `budget` or `budget_of_all`, not both: a key counts in one budget, and in that of its tenant',
  path: ['budget_of_all'],
})

const audience = z.string().min(1).max(500)

const issuer = strictObject({
  issuer: z
    .string()
    .max(500)
    .refine(isIssuer, { error: issuerProblem(ISSUER_MESSAGE) }),
  audience: z.union([audience.transform((one) => [one]), z.array(audience).min(1).max(20)]).meta({
    description: 'The audience, or one of several, that a token must name: most often the address of this gateway.',
  }),
  jwks_url: z
    .string()
    .max(500)
    .refine(isIssuer, { error: issuerProblem('use an https url without a query') })
    .optional()
    .meta({
      description: 'Where the public keys are. Default: where the discovery document of the issuer says.',
    }),
  rules: z.array(rule).min(1).max(100),
})

type Named = { readonly name: string; readonly path: (string | number)[] }

/** Those whose name stands before them already. */
function repeated(named: readonly Named[]): Named[] {
  return named.filter(({ name }, index) => named.findIndex((other) => other.name === name) < index)
}

/** Who may call without an API key. */
export const identitySettings = strictObject({
  issuers: z
    .array(issuer)
    .max(20)
    .default([])
    .superRefine((issuers, context) => {
      const named = issuers.map(({ issuer: name }, index) => ({ name, path: [index, 'issuer'] }))
      const rules = issuers.flatMap(({ rules: own }, index) =>
        own.map(({ name }, place) => ({ name, path: [index, 'rules', place, 'name'] })),
      )
      for (const { name, path } of [...repeated(named), ...repeated(rules)]) {
        const message = `"${name}" is used twice; every issuer is unique, and every name of a rule, whatever its issuer`
        context.addIssue({ code: 'custom', path, message })
      }
    })
    .meta({ description: 'Issuers of tokens (JWT) that clients may send in place of an API key.' }),
})
