import { printableLines } from '#core/redaction.ts'
import { runPreflight } from '../lib/cli/preflight/preflight.ts'
import { parseOptions, UsageError } from '../lib/cli/terminal.ts'
import { readContextArguments, readProjectContext } from '../lib/config/context-settings.ts'
import { configurationFile, DEFAULT_CONFIGURATION } from '../lib/config/load-gateway-config.ts'
import { readStageSettings } from '../lib/config/stage-settings.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run preflight -- [-c key=value]... [--json]

Says what a deployment with these settings would meet: settings, configuration; then caller, region, bootstrap, quotas,
CloudFront, rests of an earlier stack of the stage, certificates; for each what to do. What needs no credentials is checked without
them. Takes the settings and variables of \`cdk deploy\`, changes nothing, and exits with code 1 if something is wrong; a warning
is not. The configuration is ${DEFAULT_CONFIGURATION}.`

/** `npm run preflight`. */
async function main(): Promise<void> {
  const { values } = parseOptions({
    options: {
      context: { type: 'string', short: 'c', multiple: true },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const context: Readonly<Record<string, unknown>> = {
    ...readProjectContext(),
    ...readContextArguments(values.context ?? []),
  }
  const readSettings = () => {
    const settings = readStageSettings((name) => context[name] ?? (name === 'config' ? configurationFile() : undefined))
    if (settings.emulator) {
      throw new UsageError('-c emulator=true: an emulator has none of these; remove the setting')
    }
    return settings
  }
  const { json, text, isOk } = await runPreflight({
    readSettings,
    environment: process.env,
    nowMilliseconds: Date.now(),
  })
  console.log(values.json ? JSON.stringify(json) : printableLines(text))
  process.exitCode = isOk ? 0 : 1
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE }))
