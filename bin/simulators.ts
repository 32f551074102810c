import { serveSimulators } from '../lib/cli/serve-simulators.ts'
import { outliveLostOutput, parseOptions, readInteger, stopSignal } from '../lib/cli/terminal.ts'
import { configurationFile, DEFAULT_CONFIGURATION } from '../lib/config/load-gateway-config.ts'
import { OperatorError } from '../lib/config/operator-error.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run simulators -- [--port-base 9700] [--host 127.0.0.1] [--config FILE] [--data-dir .data/simulators]

Runs the simulated upstreams for a deployment on an emulator, each on a port of its own from --port-base on, and prints
the variables to deploy with. --host is an address of this machine that the functions of the deployment reach.
The configuration is ${DEFAULT_CONFIGURATION}.`

/** Leaves room for the ports of further channels below 65536. */
const PORT_BASE_MAX = 65_000

/** `npm run simulators`. Exits 0 after SIGINT or SIGTERM, with every server stopped. */
async function main(): Promise<void> {
  const { values } = parseOptions({
    options: {
      'port-base': { type: 'string', default: '9700' },
      host: { type: 'string', default: '127.0.0.1' },
      config: { type: 'string' },
      'data-dir': { type: 'string', default: '.data/simulators' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  outliveLostOutput()
  const { stopped, ready } = stopSignal()
  const simulators = await serveSimulators({
    configFile: values.config ?? configurationFile(),
    dataDirectory: values['data-dir'],
    host: values.host,
    portBase: readInteger('--port-base', values['port-base'], { min: 1, max: PORT_BASE_MAX }),
  })
  if (simulators.variables.length === 0) {
    throw new OperatorError(
      'no channel has a `base_url` that is a variable with the default `simulator`: config/gateway.yaml shows how to write one',
    )
  }
  console.log('# simulated upstreams are listening; in another terminal:')
  for (const variable of simulators.variables) {
    console.log(`export ${variable}`)
  }
  console.log('# Ctrl-C stops them')
  ready()
  await stopped
  await simulators.close()
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE, otherPort: 'choose another --port-base' }))
