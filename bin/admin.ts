import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { runCommandLine } from '../lib/admin/command-line/run-command-line.ts'
import type { Terminal } from '../lib/admin/deployment/admin-context.ts'
import { printFailure } from './print-failure.ts'

const terminal: Terminal = {
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  async ask(question) {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    // Control-C and the end of the input are a no; of the one readline rejects, of the other it may say nothing.
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
  // `| head` closes the pipe when it has seen enough: that is no failure.
  if (code === 'EPIPE') {
    process.exit(0)
  }
  const sentence = `the answer could not be written (${code}); what the command did is done`
  process.stderr.write(process.argv.includes('--json') ? `${JSON.stringify({ error: sentence })}\n` : `${sentence}\n`)
  process.exit(1)
})

// What a command could not say there is no failure of it either.
process.stderr.on('error', () => undefined)

/** `npm run admin`. */
async function main(): Promise<void> {
  // Some commands run the pipeline's own code: its log lines and metrics are a function's, not an operator's.
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  process.env.POWERTOOLS_LOG_LEVEL = 'SILENT'
  const { COMMANDS } = await import('../lib/admin/command-line/command-table.ts')
  process.exitCode = await runCommandLine(process.argv.slice(2), { commands: COMMANDS, terminal })
}

main().catch(printFailure)
