import { deployToEmulator, readContext } from '../lib/cli/emulator.ts'
import { parseOptions } from '../lib/cli/terminal.ts'
import { configurationFile, DEFAULT_CONFIGURATION } from '../lib/config/load-gateway-config.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run deploy:emulator -- [--stage dev] [--config FILE] [-c key=value]... [--verbose]

Bootstraps and deploys the stack to an emulator of AWS (LocalStack, MiniStack): AWS_ENDPOINT_URL says where it is.
\`-c\` gives context settings as to \`cdk deploy\`, once for each: -c retainData=true -c logRetentionDays=1.
The upstreams come from the environment as in any deployment; \`npm run simulators\` starts some and prints the variables.
The configuration is ${DEFAULT_CONFIGURATION}.`

const OPTIONS = {
  stage: { type: 'string', default: 'dev' },
  config: { type: 'string' },
  context: { type: 'string', short: 'c', multiple: true },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** `npm run deploy:emulator`. Exit code 1 if cdk fails, 2 if nothing was attempted. */
async function main(): Promise<void> {
  const { values } = parseOptions({ options: OPTIONS })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const { stage, config: configFile = configurationFile(), verbose } = values
  const context = readContext(values.context ?? [])
  await deployToEmulator({ stage, configFile, context, verbose, environment: process.env })
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE }))
