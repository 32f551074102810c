import { requireChannels } from '../../config/deployed-channels.ts'
import type { Environment } from '../../config/environment.ts'
import { loadGatewayConfig } from '../../config/load-gateway-config.ts'
import { stackName } from '../../config/stack-name.ts'
import type { StageSettings } from '../../config/stage-settings.ts'
import type { Answer } from '../command-line/answer.ts'
import { describeFindings } from '../health/describe-findings.ts'
import { type Check, type Finding, fine, runCheck } from '../health/finding.ts'
import { checkBootstrap, checkConcurrency, checkPlace, type Place, readPlace } from './account-checks.ts'
import { checkCdnNames, checkCloudFront, checkFrontDoorAcl } from './cdn-checks.ts'
import { checkCertificate } from './certificate-checks.ts'
import { checkBuckets, checkLogGroups, checkSecrets, checkTables } from './leftover-checks.ts'
import { checkStackState, isFirstDeployment, readStackState, type StackState } from './stack-state.ts'
import { checkWebFunctions } from './web-function-checks.ts'

type PreflightOptions = {
  readonly settings: StageSettings
  readonly environment: Environment
  readonly nowMilliseconds: number
}

/**
 * Checks what a deployment of a stage needs, before the deployment. Nothing is changed. A check that fails says why, and the others go
 * on, except without a caller, because then AWS cannot be asked.
 * @throws what the SDK throws without credentials or a region.
 */
export async function runPreflight(options: PreflightOptions): Promise<Answer> {
  const { settings } = options
  const place = await readPlace()
  const name = stackName(settings.stage)
  // Two checks read it. Its error is reported once, and an unknown stack gets every check.
  const state = readStackState(name)
  const known = await state.catch((): StackState => ({ status: undefined, isProtected: false }))
  const checks: Check[] = [
    { name: 'configuration', run: async () => checkConfiguration(options) },
    { name: 'bootstrap', run: () => checkBootstrap(place) },
    { name: 'stack', run: async () => checkStackState(name, await state) },
    { name: 'concurrency', run: () => checkConcurrency(settings, !isFirstDeployment(known)) },
    { name: 'cloudfront', run: checkCloudFront },
    ...(isFirstDeployment(known) ? leftoverChecks(settings, name, place) : []),
    ...certificateChecks(options, place),
    ...frontDoorChecks(settings, place),
    ...(settings.relay === undefined ? [] : [{ name: 'web functions', run: () => checkWebFunctions(place.region) }]),
  ]
  const findings = (await Promise.all(checks.map(runCheck))).flat()
  return describeFindings([...checkPlace(place), ...findings])
}

function checkConfiguration({ settings, environment }: PreflightOptions): Finding[] {
  const { config } = loadGatewayConfig({ file: settings.configFile, environment, mode: 'synth' })
  requireChannels(settings, config)
  const channels = config.channels.map(({ id }) => id).join(', ')
  return [fine('configuration', `${settings.configFile}, with the channels ${channels || '(none)'}`)]
}

function leftoverChecks({ table, frontDoor, relay }: StageSettings, name: string, { region }: Place): Check[] {
  const hasFrontDoor = frontDoor !== undefined
  const signsRelay = relay?.hasOriginAccessControl ?? false
  return [
    { name: 'tables', run: () => checkTables(name, table) },
    { name: 'buckets', run: () => checkBuckets(name) },
    { name: 'secrets', run: () => checkSecrets(name) },
    { name: 'log groups', run: () => checkLogGroups(name) },
    { name: 'cdn names', run: () => checkCdnNames(name, { region, hasFrontDoor, signsRelay }) },
  ]
}

function frontDoorChecks({ frontDoor }: StageSettings, { account }: Place): Check[] {
  const webAclArn = frontDoor?.webAclArn
  return webAclArn === undefined ? [] : [{ name: 'web acl', run: async () => checkFrontDoorAcl(webAclArn, account) }]
}

function certificateChecks({ settings, nowMilliseconds }: PreflightOptions, { account }: Place): Check[] {
  return [settings.apiDomain, settings.videoDomain].flatMap((domain) =>
    domain === undefined
      ? []
      : [{ name: 'certificate', run: () => checkCertificate(domain, { account, nowMilliseconds }) }],
  )
}
