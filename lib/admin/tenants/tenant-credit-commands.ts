import { adjustTenant } from '#adapters/store/accounts/adjust-credits.ts'
import { grantTenant } from '#adapters/store/accounts/grant-credits.ts'
import { isRefusal, StoreRefusal } from '#adapters/store/store-refusal.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { Command } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readLine } from '../command-line/read-name.ts'
import { describeTenant } from './describe-tenant.ts'
import { readCredits, readSignedCredits } from './read-credits.ts'
import { readTenantId, TENANT } from './read-tenant.ts'

/** An invoice number, for example. All characters are safe in a table key and on a terminal. */
const ROW_ID = /^[\w.:-]{1,64}$/

const ID = { value: 'ID', summary: 'makes the command safe to repeat: up to 64 letters, digits, and . : _ -' } as const

/** Adds credits to a tenant, once per id. @throws StoreRefusal `not_found`, `id_taken`. */
export const tenantGrant: Command = {
  name: 'tenant grant',
  summary: 'add credits to a tenant; without --id, each run is a new grant',
  details: `With --id, such as an invoice number, the command can be repeated after a lost response: the grant is made once, and an id that
was used for another amount is refused.`,
  options: {
    tenant: TENANT,
    credits: { value: 'CREDITS', summary: 'such as 5 or 0.25', required: true },
    id: ID,
  },
  examples: [
    'tenant grant --tenant demo --credits 5 --local',
    'tenant grant --tenant demo --credits 5 --id invoice-1042',
  ],
  async run(context, values) {
    const credits = readCredits(values)
    if (credits === 0n) {
      throw new UsageError(`--credits ${values.required('credits')}: use an amount above zero`)
    }
    const id = readId(values)
    const { tenant, isNew } = await grantTenant(await context.table(), await readTenantId(context, values), {
      id,
      credits,
      actor: await context.actor(),
    })
    if (!isNew) {
      context.warn(`grant ${id} already exists: nothing was added`)
    }
    return describeTenant(tenant, { withSecret: false })
  },
}

/** Corrects what was granted to a tenant, once per id. @throws StoreRefusal `not_found`, `below_zero`, `id_taken`. */
export const tenantAdjust: Command = {
  name: 'tenant adjust',
  summary: 'correct the credits of a tenant: what is available and what was granted move alike',
  details: `The ledger gets a row of kind \`adjust\` with the reason. With --id, the command can be repeated after a lost response. Credits that are
not available are not taken away, unless --allow-debt is given: the tenant then owes the rest, and can spend nothing until it is covered.`,
  options: {
    tenant: TENANT,
    amount: { value: 'CREDITS', summary: 'such as -5 or 0.25', required: true },
    reason: { value: 'SENTENCE', summary: 'why, for the ledger and the audit log', required: true },
    id: ID,
    'allow-debt': { summary: 'the available balance may fall below zero' },
  },
  examples: [
    'tenant adjust --tenant demo --amount -5 --reason "granted twice" --local',
    'tenant adjust --tenant demo --amount 2.50 --reason "refund of job 0193f1c0" --id ticket-77 --stage prod',
  ],
  async run(context, values) {
    const adjustment = {
      amount: readSignedCredits(values),
      reason: readLine('reason', values.required('reason')),
      id: readId(values),
      isDebtAllowed: values.has('allow-debt'),
    }
    const tenantId = await readTenantId(context, values)
    const by = { actor: await context.actor() }
    const { tenant, isNew } = await adjusted(adjustTenant(await context.table(), tenantId, { ...adjustment, ...by }))
    if (!isNew) {
      context.warn(`adjustment ${adjustment.id} already exists: nothing was changed`)
    }
    return describeTenant(tenant, { withSecret: false })
  },
}

/** Adds the option that permits what was refused. */
async function adjusted<Value>(adjusting: Promise<Value>): Promise<Value> {
  try {
    return await adjusting
  } catch (error) {
    throw isRefusal(error, 'below_zero')
      ? new StoreRefusal('below_zero', `${error.message}; --allow-debt permits this`, { cause: error })
      : error
  }
}

function readId(values: CommandValues): string | undefined {
  const id = values.text('id')
  if (id !== undefined && !ROW_ID.test(id)) {
    throw new UsageError('--id: use up to 64 letters, digits, and . : _ -')
  }
  return id
}
