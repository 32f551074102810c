import { parseCredits } from '#core/money.ts'
import { startLocalHost } from '#local/local-host.ts'
import { outliveLostOutput, parseOptions, readInteger, stopSignal } from '../lib/cli/terminal.ts'
import { configurationFile, DEFAULT_CONFIGURATION, OWN_CONFIGURATION_FILE } from '../lib/config/load-gateway-config.ts'
import { buildConsole } from '../lib/console/build-console.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm start -- [--port 8787] [--config FILE] [--data-dir .data] [--api-key KEY] [--credits 100] [--allowed-host NAME]

Runs the whole gateway on this machine: API, state machine, table, bucket and simulated upstreams.
The configuration is ${DEFAULT_CONFIGURATION}.
Requests to a host other than localhost are refused; --allowed-host adds a name, such as that of a proxy in front, and may be repeated.`

/** `npm start`. Exits 0 after SIGINT or SIGTERM, with every engine stopped. */
async function main(): Promise<void> {
  const { values } = parseOptions({
    options: {
      port: { type: 'string', default: '8787' },
      config: { type: 'string' },
      'data-dir': { type: 'string', default: '.data' },
      'api-key': { type: 'string' },
      credits: { type: 'string', default: '100' },
      'allowed-host': { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  outliveLostOutput()
  const stopped = stopSignal()
  const configFile = values.config ?? configurationFile()
  const consoleBuilt = buildConsole().then(
    () => undefined,
    (error: unknown) => error,
  )
  const host = await startLocalHost({
    port: readInteger('--port', values.port, { min: 0, max: 65_535, free: ' (a free port)' }),
    configFile,
    dataDirectory: values['data-dir'],
    apiKey: values['api-key'],
    credits: parseCredits(values.credits),
    allowedHosts: values['allowed-host'].map((name) => name.toLowerCase()),
  })
  for (const warning of host.warnings) {
    console.error(`warning: ${warning}`)
  }
  if ((await consoleBuilt) !== undefined) {
    console.error('warning: the console could not be built; /console says why')
  }
  console.log(`listening on ${host.url}`)
  if (configFile === OWN_CONFIGURATION_FILE) {
    console.log(`configuration   ${configFile}`)
  }
  console.log(`console         ${host.consoleLink}`)
  console.log(`demo key        ${host.key}`)
  if (host.isTenantNew) {
    console.log(`webhook secret  ${host.tenant.webhookSecret}`)
  }
  console.log(`\ncurl -s ${host.url}/v1/video/generations -H 'Authorization: Bearer ${host.key}' \\`)
  console.log(
    `  -H 'Content-Type: application/json' -d '{"model":"famB-1.1-t2v","prompt":"a paper city lights up at night"}'\n`,
  )
  await stopped
  await host.close()
  process.exit(0)
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE }))
