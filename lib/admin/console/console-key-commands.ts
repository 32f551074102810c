import { createAdminKey, listAdminKeys, revokeAdminKey } from '#adapters/store/console/admin-keys.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { readName } from '../command-line/read-name.ts'

/** Makes an admin key and shows it, which happens only once. */
export const consoleKeyCreate: Command = {
  name: 'console key create',
  summary: 'create an admin key, with which somebody signs in to the console; it is shown only once',
  details: `An owner sees and changes everything. A viewer sees everything and changes nothing. Give every person a key of their own: the audit
log names the key.`,
  options: {
    name: { value: 'NAME', summary: 'whose key it is, for the audit log', required: true },
    role: { value: 'owner|viewer', summary: 'what it may do', required: true },
  },
  examples: [
    'console key create --name ada --role owner --stage prod',
    'console key create --name "night shift" --role viewer --local --json',
  ],
  async run(context, values) {
    const name = readName(values) ?? ''
    const role = values.required('role')
    if (role !== 'owner' && role !== 'viewer') {
      throw new UsageError(`--role ${role}: use owner or viewer`)
    }
    if (name === '') {
      throw new UsageError('--name is empty: say whose key it is')
    }
    const { key, listing } = await createAdminKey(await context.table(), { name, role }, await context.actor())
    const { keyId: id } = listing
    return { json: { id, key, name, role }, text: `${key}\nKey ${id} is shown only this once.` }
  },
}

/** Lists admin keys by their public ids. */
export const consoleKeyList: Command = {
  name: 'console key list',
  summary: 'list the public ids of admin keys; keys themselves are never shown',
  examples: ['console key list --local', 'console key list --stage prod --json'],
  async run(context) {
    const keys = await listAdminKeys(await context.table())
    const rows = keys.map(({ keyId: id, name, role, state, createdAt }) => ({
      id,
      name,
      role,
      state,
      created_at: new Date(createdAt).toISOString(),
    }))
    const text = formatTable(
      ['ID', 'NAME', 'ROLE', 'STATE', 'CREATED'],
      rows.map((row) => Object.values(row)),
    )
    return { json: { keys: rows }, text: rows.length === 0 ? 'no admin keys: use `console key create`' : text }
  },
}

/** Revokes an admin key. @throws StoreRefusal `not_found`. */
export const consoleKeyRevoke: Command = {
  name: 'console key revoke',
  summary: 'revoke an admin key: its sessions end at their next request',
  details:
    'Asks for confirmation on a terminal. Without a terminal, or with --json, it does not ask, because scripts run it without --yes.',
  options: { key: { value: 'ID', summary: 'the public id of the admin key', required: true } },
  examples: ['console key revoke --key 8fK2mQ0z --stage prod', 'console key revoke --key 8fK2mQ0z --json'],
  async run(context, values) {
    const id = values.required('key')
    await context.confirm(`Admin key ${id} and its sessions will be refused permanently`, { unattended: 'proceed' })
    await revokeAdminKey(await context.table(), id, await context.actor())
    return { json: { id, state: 'revoked' }, text: `admin key ${id} and its sessions are refused from now on` }
  },
}
