import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Terminal } from '../lib/cli/admin/admin-context.ts'
import { runCommandLine } from '../lib/cli/admin/command-line.ts'
import { printFailure } from './print-failure.ts'

const terminal: Terminal = {
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    // Control-C and the end of the input mean no: readline rejects for the first, and may stay silent for the second.
    const closed = once(lines, 'close').then(() => '')
    try {
      return await Promise.race([lines.question(question).catch(() => ''), closed])
    } finally {
      lines.close()
    }
  },
  async write(text) {
    if (!process.stdout.write(text)) {
      await once(process.stdout, 'drain')
    }
  },
  writeError: (text) => void process.stderr.write(text),
}

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // `| head` closes the pipe early, which is not a failure.
  if (code === 'EPIPE') {
    process.exit(0)
  }
  const sentence = `the output could not be written (${code}); the command itself has run`
  process.stderr.write(process.argv.includes('--json') ? `${JSON.stringify({ error: sentence })}\n` : `${sentence}\n`)
  process.exit(1)
})

// A command does not fail because stderr is closed.
process.stderr.on('error', () => undefined)

/** `npm run admin`. */
async function main(): Promise<void> {
  // Some commands run code of the pipeline, whose logs and metrics are for functions, not for operators.
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'
  const { COMMANDS } = await import('../lib/cli/admin/commands.ts')
  process.exitCode = await runCommandLine(process.argv.slice(2), { commands: COMMANDS, terminal })
}

main().catch(printFailure)
