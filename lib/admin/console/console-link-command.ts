import { makeSignInLink } from '#adapters/store/console/sign-in-link.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { Command } from '../command-line/command.ts'

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
