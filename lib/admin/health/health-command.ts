import { stackName } from '../../config/platform-facts.ts'
import { readDeployedConfig } from '../catalogue/deployed-config.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import { checkApi } from './api-health.ts'
import { checkChannelConnections } from './channel-connections.ts'
import { checkChannelKeys, checkChannels } from './channel-health.ts'
import { describeFindings } from './describe-findings.ts'
import { type Check, runCheck } from './finding.ts'
import { checkAlarms, checkDeadLetters, checkProtection, checkReconcile, checkStack } from './stack-health.ts'
import { checkBalances, checkReservations } from './table-health.ts'

/** Checks a deployment from outside. */
export const health: Command = {
  name: 'health',
  summary: 'check a deployment: stack, protection, api, table, reservations, Reconcile, alarms, channel keys',
  details: `Exit code 1 if something is wrong; each finding says what to do. With --local, the parts of a local host: api, table, reservations,
channels, and connections to their upstreams. Nothing is changed. \`ledger verify\` checks the money in full.`,
  examples: ['health --stage prod', 'health --local --json'],
  async run(context) {
    // Otherwise every check would report the same failing look-up.
    await context.output('BaseUrl')
    const findings = (await Promise.all(checksOf(context).map(runCheck))).flat()
    return describeFindings(findings)
  },
}

function checksOf(context: AdminContext): Check[] {
  const now = Date.now()
  const common: Check[] = [
    { name: 'api', run: async () => checkApi(await context.output('BaseUrl')) },
    { name: 'table', run: async () => checkBalances(await context.table()) },
    { name: 'reservations', run: async () => checkReservations(await context.table(), now) },
    { name: 'channels', run: async () => checkChannels(await readDeployedConfig(context)) },
  ]
  const here: Check = {
    name: 'connections',
    run: async () => checkChannelConnections(await readDeployedConfig(context)),
  }
  return context.local ? [...common, here] : [...deployedChecks(context, now), ...common]
}

function deployedChecks(context: AdminContext, now: number): Check[] {
  return [
    { name: 'stack', run: () => checkStack(stackName(context.stage)) },
    { name: 'protection', run: () => checkProtection(stackName(context.stage)) },
    { name: 'reconcile', run: async () => checkReconcile(await context.resources(), now) },
    { name: 'dead letters', run: async () => checkDeadLetters(await context.resources(), now) },
    { name: 'alarms', run: async () => checkAlarms(await context.resources()) },
    {
      name: 'channel keys',
      run: async () => checkChannelKeys(await context.output('ChannelSecretArn'), await readDeployedConfig(context)),
    },
  ]
}
