import { serveSimulators } from '../lib/cli/serve-simulators.ts'
import { outliveLostOutput, parseOptions, UsageError } from '../lib/cli/terminal.ts'
import { configurationFile, DEFAULT_CONFIGURATION } from '../lib/config/load-gateway-config.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run simulators -- [--port-base 9700] [--host 127.0.0.1] [--config FILE] [--data-dir .data/simulators]

Runs the simulated upstreams for a deployment on an emulator, each on a port of its own from --port-base on, and prints
the variables to deploy with. --host is an address of this machine that the functions of the deployment reach.
The configuration is ${DEFAULT_CONFIGURATION}.`

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
  const stopped = stopSignal()
  const simulators = await serveSimulators({
    configFile: values.config ?? configurationFile(),
    dataDirectory: values['data-dir'],
    host: values.host,
    portBase: readPort(values['port-base']),
  })
  console.log('# simulated upstreams are listening; in another terminal:')
  for (const variable of simulators.variables) {
    console.log(`export ${variable}`)
  }
  console.log('# Ctrl-C stops them')
  await stopped
  await simulators.close()
}

/** Leaves room for the ports of further channels below 65536. */
const PORT_BASE_MAX = 65_000

function readPort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > PORT_BASE_MAX) {
    throw new UsageError(`--port-base ${text}: use a number from 1 to ${PORT_BASE_MAX}`)
  }
  return port
}

/** Registered before the start: a signal during the start stops the servers once they have started. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE, otherPort: 'choose another --port-base' }))
