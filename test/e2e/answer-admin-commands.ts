import { runCommandLine } from '../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../lib/cli/admin/commands.ts'

/** One command line. */
export type AdminRequest = { readonly id: string; readonly command: readonly string[] }

/** What `npm run admin` would have printed, and its exit status. */
export type AdminAnswer = {
  readonly id: string
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A process of its own: it runs the command lines that it is sent, as `bin/admin.ts` would, until its parent lets go of it. */
process.on('message', async ({ id, command }: AdminRequest) => {
  const printed = { stdout: '', stderr: '' }
  const exitCode = await runCommandLine(command, {
    commands: COMMANDS,
    terminal: {
      isInteractive: false,
      ask: async () => '',
      write: async (text) => {
        printed.stdout += text
      },
      writeError: (text) => {
        printed.stderr += text
      },
    },
  })
  process.send?.({ id, exitCode, ...printed } satisfies AdminAnswer)
})
process.once('disconnect', () => process.exit(0))
