import { runDemo } from '../lib/cli/demo.ts'
import { parseOptions } from '../lib/cli/terminal.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run demo

Starts the whole gateway on a free port of this machine, over simulated upstreams and a table of its own, and uses it once: a
video from its prompt to its download and its callback, a streamed chat, an embedding, and what they cost. Nothing is left behind.`

/** `npm run demo`. Exits 0 if everything worked. */
async function main(): Promise<void> {
  const { values } = parseOptions({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) {
    console.log(USAGE)
    return
  }
  await runDemo()
}

main().then(
  () => process.exit(0),
  (error: unknown) => printFailure(error, { usage: USAGE }),
)
