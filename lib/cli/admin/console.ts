import { GIVEN_ROLES, isOfTenant } from '#core/roles.ts'
import { createAdminKey, listAdminKeys, revokeAdminKey } from '#store/sessions/admin-keys.ts'
import { makeSignInLink } from '#store/sessions/sessions.ts'
import { CommandFailedError } from '../failures.ts'
import { formatTable } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { recordEffect } from './audit.ts'
import type { AdminContext, Command } from './command.ts'
import { frontDoorSecret } from './front-door.ts'
import { findTenant, readName } from './read-options.ts'
import { changeSecretEntries, readSecretEntries, readSecretValue, type SecretInput } from './secrets.ts'

/** Makes an admin key and shows it, which happens only once. */
export const consoleKeyCreate: Command = {
  name: 'console key create',
  summary: 'create an admin key, for the console and for the admin API; it is shown only once',
  details: `An owner sees and changes everything. A viewer sees everything and changes nothing. Finance sees the money and the usage of all tenants.
A tenant-admin manages the keys, alerts and webhooks of one tenant, and a tenant-viewer sees that tenant. The key signs in to the console, and calls the
admin API as \`Authorization: Bearer\`. Give every person and every program a key of their own: the audit log names the key.`,
  options: {
    name: { value: 'NAME', summary: 'whose key it is, for the audit log', required: true },
    role: { value: GIVEN_ROLES.join('|'), summary: 'what it may do', required: true },
    tenant: { value: 'ID|NAME', summary: 'the tenant of a tenant-admin or a tenant-viewer' },
  },
  examples: [
    'console key create --name ada --role owner --stage prod',
    'console key create --name "night shift" --role viewer --local --json',
    'console key create --name terraform --role tenant-admin --tenant demo --stage prod',
  ],
  async run(context, values) {
    const name = readName(values.text('name') ?? '')
    const role = GIVEN_ROLES.find((each) => each === values.required('role'))
    if (role === undefined) {
      throw new UsageError(`--role ${values.required('role')}: use ${GIVEN_ROLES.join(', ')}`)
    }
    if (name === '') {
      throw new UsageError('--name is empty: say whose key it is')
    }
    const named = values.text('tenant')
    if (isOfTenant(role) !== (named !== undefined)) {
      throw new UsageError(`--role ${role} ${isOfTenant(role) ? 'needs' : 'takes no'} --tenant`)
    }
    const table = await context.table()
    const found = named === undefined ? null : await findTenant(table, named)
    const tenant = found && { id: found.id, name: found.name }
    const { key, listing } = await createAdminKey(table, { name, role, tenant }, await context.actor())
    const { keyId: id } = listing
    return {
      json: { id, key, name, role, tenant: tenant?.id ?? null },
      text: `${key}\nKey ${id} is shown only this once.`,
    }
  },
}

/** Lists admin keys by their public ids. */
export const consoleKeyList: Command = {
  name: 'console key list',
  summary: 'list the public ids of admin keys; keys themselves are never shown',
  examples: ['console key list --local', 'console key list --stage prod --json'],
  async run(context) {
    const keys = await listAdminKeys(await context.table())
    const rows = keys.map(({ keyId: id, name, role, tenant, state, createdAt }) => ({
      id,
      name,
      role,
      tenant: tenant?.id ?? null,
      state,
      created_at: new Date(createdAt).toISOString(),
    }))
    const text = formatTable(
      ['ID', 'NAME', 'ROLE', 'TENANT', 'STATE', 'CREATED'],
      rows.map((row) => Object.values(row)),
    )
    return { json: { keys: rows }, text: rows.length === 0 ? 'no admin keys: use `console key create`' : text }
  },
}

/** Revokes an admin key. @throws StoreRefusal `not_found`. */
export const consoleKeyRevoke: Command = {
  name: 'console key revoke',
  summary: 'revoke an admin key: it and its sessions are refused from the next request on',
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

/** Makes a new one-time link to the console of a local host. */
export const consoleLink: Command = {
  name: 'console link',
  summary: 'print a link that signs in to the console of a local host, once, within ten minutes',
  examples: ['console link --local', 'console link --local --json'],
  async run(context) {
    if (!context.local) {
      throw new UsageError('a link signs in on a local host only: add --local, or make a key with `console key create`')
    }
    const { name } = await context.actor()
    const secret = await makeSignInLink(await context.table(), name, Date.now())
    const link = `${await context.output('BaseUrl')}/console#link=${secret}`
    return { json: { link }, text: link }
  },
}

/** Entry of the front door's secret, which the sign-in function reads already. */
const ENTRY = 'oidc_client_secret'

const WHEN = 'Sign-ins use the change within five minutes.'

/** Stores the client secret of the OpenID provider. @throws UsageError, CommandFailedError. */
export const consoleOidcSecretSet: Command = createConsoleOidcSecretSet(() => process.stdin)

/** `console oidc-secret set` with an input other than that of the process. */
export function createConsoleOidcSecretSet(openInput: () => SecretInput): Command {
  return {
    name: 'console oidc-secret set',
    summary: 'store the client secret with which the console proves itself to the OpenID provider',
    details: `The value comes from a hidden prompt or a pipe, never from an argument. ${WHEN}`,
    options: {
      'value-from-stdin': { summary: 'read the value from a pipe, without one line break at its end' },
    },
    examples: [
      'console oidc-secret set --stage prod',
      'console oidc-secret set --value-from-stdin --stage prod < secret.txt',
    ],
    async run(context, values) {
      const secret = await secretOf(context)
      const fromStdin = values.has('value-from-stdin')
      const value = await readSecretValue({ name: ENTRY, fromStdin, input: openInput(), output: process.stderr })
      const { [ENTRY]: stored } = await readSecretEntries(secret)
      if (stored === value) {
        return { json: { state: 'unchanged' }, text: 'the client secret has this value already' }
      }
      await recordChange(context, 'set', { before: stored ? 'set' : 'missing', after: 'set' })
      const { before, versionId } = await changeSecretEntries(secret, (entries) => ({ ...entries, [ENTRY]: value }))
      const state = before[ENTRY] ? 'replaced' : 'set'
      return { json: { state, version: versionId }, text: `the client secret is ${state}. ${WHEN}` }
    },
  }
}

/** Removes the client secret, for a client without one. @throws CommandFailedError if there is none. */
export const consoleOidcSecretRemove: Command = {
  name: 'console oidc-secret remove',
  summary: 'remove the client secret of the OpenID provider: the console then proves itself by PKCE alone',
  details: `The value cannot be recovered. ${WHEN}`,
  examples: ['console oidc-secret remove --stage prod'],
  async run(context) {
    const secret = await secretOf(context)
    if (!(await readSecretEntries(secret))[ENTRY]) {
      throw new CommandFailedError('there is no client secret of an OpenID provider')
    }
    await context.confirm(
      `The client secret of ${context.stage} will be removed; nobody signs in by a provider that wants one`,
    )
    await recordChange(context, 'remove', { before: 'set', after: 'missing' })
    await changeSecretEntries(secret, ({ [ENTRY]: _, ...others }) => others)
    return { json: { state: 'removed' }, text: `the client secret is removed. ${WHEN}` }
  },
}

function secretOf(context: AdminContext) {
  return frontDoorSecret(
    context,
    'a local host reads the client secret from its environment: set CONSOLE_OIDC_CLIENT_SECRET and restart the host',
  )
}

type State = 'set' | 'missing'

/** Recorded before the change, because the earlier value is lost with it. */
async function recordChange(
  context: AdminContext,
  done: 'set' | 'remove',
  { before, after }: { before: State; after: State },
): Promise<void> {
  await recordEffect(context, {
    action: `console oidc-secret ${done}`,
    target: { kind: 'secret', id: 'oidc-client' },
    before: { state: before },
    after: { state: after },
  })
}
