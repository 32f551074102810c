import { parseArgs } from 'node:util'
import type { Table } from '#adapters/stores/table.ts'
import type { Answer } from '../lib/admin/answer.ts'
import { createKey, listKeys, revokeKey } from '../lib/admin/key-commands.ts'
import { showLedger, verifyLedgers } from '../lib/admin/ledger-commands.ts'
import { openAdminTable } from '../lib/admin/open-admin-table.ts'
import { createTenant, grantCredits, showTenant } from '../lib/admin/tenant-commands.ts'
import { UsageError } from '../lib/admin/usage-error.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run admin -- COMMAND [--json] [--local [--data-dir .data]] [--stage dev]

  tenant create --name NAME --credits 10.00
  tenant show   --tenant ID
  tenant grant  --tenant ID --credits 5
  key create    --tenant ID [--models a,b]
  key list
  key revoke    --key ID
  ledger        --tenant ID [--limit 50]
  ledger verify

Works on the table of the deployed stage (usual AWS environment), or with --local on that of a running local host.`

const OPTIONS = {
  name: { type: 'string' },
  credits: { type: 'string' },
  tenant: { type: 'string' },
  models: { type: 'string' },
  key: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean', default: false },
  local: { type: 'boolean', default: false },
  'data-dir': { type: 'string', default: '.data' },
  stage: { type: 'string', default: 'dev' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

type Values = ReturnType<typeof parse>['values']

function parse() {
  return parseArgs({ options: OPTIONS, allowPositionals: true })
}

/** Each command says which options it cannot do without. */
const COMMANDS: Readonly<Record<string, (table: Table, values: Values) => Promise<Answer>>> = {
  'tenant create': (table, values) =>
    createTenant(table, { name: required(values, 'name'), credits: required(values, 'credits') }),
  'tenant show': (table, values) => showTenant(table, { tenant: required(values, 'tenant') }),
  'tenant grant': (table, values) =>
    grantCredits(table, { tenant: required(values, 'tenant'), credits: required(values, 'credits') }),
  'key create': (table, values) => createKey(table, { tenant: required(values, 'tenant'), models: values.models }),
  'key list': (table) => listKeys(table),
  'key revoke': (table, values) => revokeKey(table, { key: required(values, 'key') }),
  ledger: (table, values) => showLedger(table, { tenant: required(values, 'tenant'), limit: values.limit }),
  'ledger verify': (table) => verifyLedgers(table),
}

function required(values: Values, name: 'name' | 'credits' | 'tenant' | 'key'): string {
  const value = values[name]
  if (value === undefined || value === '') {
    throw new UsageError(`--${name} is missing\n\n${USAGE}`)
  }
  return value
}

/** `npm run admin`. Exit code 1 when a command fails or an invariant is broken. */
async function main(): Promise<void> {
  const { values, positionals } = parse()
  const name = positionals.join(' ')
  if (values.help || name === '') {
    console.log(USAGE)
    return
  }
  const command = COMMANDS[name]
  if (command === undefined) {
    throw new UsageError(`no command "${name}"\n\n${USAGE}`)
  }
  const table = await openAdminTable({ local: values.local, dataDirectory: values['data-dir'], stage: values.stage })
  const answer = await command(table, values)
  console.log(values.json ? JSON.stringify(answer.json) : answer.text)
  process.exitCode = answer.isOk === false ? 1 : 0
}

main().catch(printFailure)
