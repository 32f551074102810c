import { type LocalHost, startLocalHost } from '#local/local-host.ts'
import { readAmount } from '../lib/cli/admin/read-options.ts'
import { firstRequest } from '../lib/cli/first-request.ts'
import { outliveLostOutput, parseOptions, readInteger, stopSignal, UsageError } from '../lib/cli/terminal.ts'
import { configurationFile, DEFAULT_CONFIGURATION, OWN_CONFIGURATION_FILE } from '../lib/config/load-gateway-config.ts'
import { buildConsole } from '../lib/console/build-console.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm start -- [options]

Runs the whole gateway on this machine: API, state machine, table, bucket and simulated upstreams.

  --port 8787                0 for a free port
  --config FILE              ${DEFAULT_CONFIGURATION}
  --data-dir .data           where table, bucket and keys survive a restart
  --api-key KEY              a key of the demo tenant; on a fresh --data-dir its only one
  --credits 100              the first grant of the demo tenant
  --allowed-host NAME        responds to this name too, such as that of a proxy in front; may be repeated
  --simulators               simulates every upstream, and ignores upstream and AWS variables of the shell
  --video-milliseconds N     how long a simulated video takes; polls and retries come every quarter of that
  --webhook-secret SECRET    signs the callbacks of the demo tenant: whsec_ and the base64 of 24 to 64 bytes
  --json                     prints one line of JSON when it is ready, and everything else to stderr
  --json-logs                logs requests as JSON, as a deployment does; LOG_LEVEL=DEBUG shows the stacks of upstream failures`

const DATA_DIRECTORY = '.data'

const SECONDS_A_DAY = 86_400

/** `npm start`. Exits 0 after SIGINT or SIGTERM, or when the program that started it is gone, with every engine stopped. */
async function main(): Promise<void> {
  const { values } = parseOptions({
    options: {
      port: { type: 'string', default: '8787' },
      config: { type: 'string' },
      'data-dir': { type: 'string', default: DATA_DIRECTORY },
      'api-key': { type: 'string' },
      credits: { type: 'string' },
      'allowed-host': { type: 'string', multiple: true, default: [] },
      simulators: { type: 'boolean', default: false },
      'video-milliseconds': { type: 'string' },
      'webhook-secret': { type: 'string' },
      json: { type: 'boolean', default: false },
      'json-logs': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  outliveLostOutput()
  const { stopped, ready } = stopSignal()
  const configFile = values.config ?? configurationFile()
  const consoleBuilt = buildConsole().then(
    () => undefined,
    (error: unknown) => error,
  )
  const milliseconds = values['video-milliseconds']
  const host = await startLocalHost({
    port: readInteger('--port', values.port, { min: 0, max: 65_535, free: ' (a free port)' }),
    configFile,
    dataDirectory: values['data-dir'],
    apiKey: values['api-key'],
    credits: readAmount('credits', values.credits ?? '100'),
    allowedHosts: values['allowed-host'].map(readHostName),
    simulators: values.simulators,
    videoMilliseconds:
      milliseconds === undefined
        ? undefined
        : readInteger('--video-milliseconds', milliseconds, { min: 4, max: SECONDS_A_DAY * 1000 }),
    webhookSecret: values['webhook-secret'],
    log: values['json-logs'] ? 'json' : 'lines',
  })
  if (values.credits !== undefined && !host.isTenantNew) {
    console.error(
      `warning: --credits is the first grant of a fresh --data-dir; this one has its balance (\`tenant grant\` adds to it)`,
    )
  }
  for (const warning of host.warnings) {
    console.error(`warning: ${warning}`)
  }
  if ((await consoleBuilt) !== undefined) {
    console.error('warning: the console could not be built; /console says why')
  }
  console.log(values.json ? readyLine(host, configFile) : readyText(host, configFile, values['data-dir']))
  ready()
  await stopped
  await host.close()
  process.exit(0)
}

/** @throws UsageError for anything that no `Host` without its port can be. */
function readHostName(text: string): string {
  const name = text.toLowerCase()
  if (URL.parse(`http://${name}`)?.hostname !== name) {
    throw new UsageError(`--allowed-host ${text}: use a name without scheme and port, such as gateway.test`)
  }
  return name
}

function readyLine(
  { url, key, tenant, consoleLink, channels, externalEngines }: LocalHost,
  configFile: string,
): string {
  const facts = { url, base_url: `${url}/v1`, api_key: key, webhook_secret: tenant.webhookSecret, console: consoleLink }
  return JSON.stringify({ ...facts, configuration: configFile, channels, external_engines: externalEngines })
}

function readyText(host: LocalHost, configFile: string, dataDirectory: string): string {
  const { url, key, channels, externalEngines } = host
  const width = Math.max(...channels.map(({ id }) => id.length))
  const upstreams = channels.map(
    ({ id, base_url, simulated }) => `${id.padEnd(width)}  ${simulated ? 'simulated' : base_url}`,
  )
  const engines = externalEngines.map((endpoint) => `${endpoint}, as AWS_ENDPOINT_URL or its like says`)
  return [
    `listening on ${url}`,
    ...(configFile === OWN_CONFIGURATION_FILE ? [`configuration   ${configFile}`] : []),
    `console         ${host.consoleLink}`,
    `demo key        ${key}`,
    `webhook secret  ${host.isTenantNew ? host.tenant.webhookSecret : showSecret(host.tenant.id, dataDirectory)}`,
    ...labelled('channels', upstreams),
    ...labelled('table, bucket', engines),
    `\n${firstRequest(host)}\n`,
  ].join('\n')
}

/** The secret is printed once; afterwards, the command that shows it. */
function showSecret(tenantId: string, dataDirectory: string): string {
  const place = dataDirectory === DATA_DIRECTORY ? '' : ` --data-dir '${dataDirectory}'`
  return `npm run admin -- callback-secret show --tenant ${tenantId} --local${place}`
}

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `${(index === 0 ? label : '').padEnd(16)}${line}`)
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE }))
