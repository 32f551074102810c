import { recordEffect } from '../audit/record-effect.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'
import { frontDoorSecret } from '../secrets/front-door-secret.ts'
import { readSecretValue, type SecretInput } from '../secrets/read-secret-value.ts'
import { changeSecretEntries, readSecretEntries } from '../secrets/secret-entries.ts'

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
