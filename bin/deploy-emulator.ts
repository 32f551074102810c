import { parseArgs } from 'node:util'
import { UsageError } from '../lib/admin/usage-error.ts'
import { deployToEmulator } from '../lib/emulator/deploy-to-emulator.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run deploy:emulator -- [--stage dev] [--config config/gateway.yaml] [--verbose]

Bootstraps and deploys the stack to an emulator of AWS (LocalStack, MiniStack): AWS_ENDPOINT_URL says where it is.
The upstreams come from the environment as in any deployment; \`npm run simulators\` starts some and prints the variables.`

/** `npm run deploy:emulator`. Exit code 1 when cdk fails, 2 when nothing was tried. */
async function main(): Promise<void> {
  const { values } = parse()
  if (values.help) {
    console.log(USAGE)
    return
  }
  const { stage, config: configFile, verbose } = values
  await deployToEmulator({ stage, configFile, verbose, environment: process.env })
}

function parse() {
  try {
    return parseArgs({
      options: {
        stage: { type: 'string', default: 'dev' },
        config: { type: 'string', default: 'config/gateway.yaml' },
        verbose: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    console.error(error.message)
    process.exit(2)
  }
  printFailure(error)
})
