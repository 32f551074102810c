import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { StageSettingsError } from '../../config/context-settings.ts'
import {
  catalogueWarnings,
  type LoadedConfig,
  loadGatewayConfig,
  upstreamWarnings,
} from '../../config/load-gateway-config.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { type Environment, stackName } from '../../config/platform-facts.ts'
import { requireChannels, type StageSettings } from '../../config/stage-settings.ts'
import { type Check, describeFindings, type Finding, fine, runCheck, warning, wrong } from '../findings.ts'
import type { Output } from '../output.ts'
import {
  checkBootstrap,
  checkBuckets,
  checkConcurrency,
  checkLogGroups,
  checkPlace,
  checkSecrets,
  checkStackState,
  checkTables,
  checkWebFunctions,
  isFirstDeployment,
  type Place,
  readPlace,
  readStackState,
  type StackState,
} from './account-checks.ts'
import { checkCdnNames, checkCertificate, checkCloudFront, checkFrontDoorAcl, tellWebAcl } from './cdn-checks.ts'
import { checkBedrockModels } from './upstream-checks.ts'

type PreflightOptions = {
  /** Reads the settings of the deployment. @throws StageSettingsError */
  readonly readSettings: () => StageSettings
  readonly environment: Environment
  readonly nowMilliseconds: number
}

type AccountOptions = Pick<PreflightOptions, 'nowMilliseconds'> & {
  readonly settings: StageSettings
  /** Undefined for one that is not valid. */
  readonly config: GatewayConfig | undefined
}

/**
 * Checks what a deployment of a stage needs, before the deployment: first what needs no credentials, then the account. Nothing is changed.
 * A check that fails says why, and the others go on, except where the next cannot be asked: AWS without a caller, and all without settings.
 */
export async function runPreflight(options: PreflightOptions): Promise<Output> {
  const { settings, found } = readSettings(options)
  if (settings === undefined) {
    return describeFindings([checkNode(), ...found])
  }
  const { environment, nowMilliseconds } = options
  const { config, found: configuration } = readConfiguration(settings, environment)
  const place = readPlace()
  const caller = await runCheck({ name: 'caller', run: async () => checkPlace(await place) })
  const account = await place.then(
    (known) => checkAccount({ settings, config, nowMilliseconds }, known),
    () => [warning('account', 'was not looked at, because there is no caller', 'Check again with credentials.')],
  )
  return describeFindings([checkNode(), ...found, ...configuration, ...caller, ...account])
}

/** The functions run on this version of Node, and so do the tests. */
const NODE_OF_FUNCTIONS = 24

function checkNode(): Finding {
  const { node } = process.versions
  return node.startsWith(`${NODE_OF_FUNCTIONS}.`)
    ? fine('node', `Node ${node}, as the functions`)
    : warning('node', `this is Node ${node}`, `The functions run on Node ${NODE_OF_FUNCTIONS}: \`npm ci\` brings it.`)
}

function readSettings({ readSettings: read }: PreflightOptions): {
  readonly settings: StageSettings | undefined
  readonly found: Finding[]
} {
  try {
    const settings = read()
    const text = `${stackName(settings.stage)} with the profile ${settings.profile}`
    return { settings, found: [fine('settings', text)] }
  } catch (error) {
    if (error instanceof StageSettingsError) {
      const advice = 'Correct it (docs/deploy.md, "Settings"). Nothing else was looked at.'
      return { settings: undefined, found: [wrong('settings', error.message, advice)] }
    }
    throw error
  }
}

async function checkAccount(options: AccountOptions, place: Place): Promise<Finding[]> {
  const { settings, config } = options
  const name = stackName(settings.stage)
  // Two checks read it. Its error is reported once, and an unknown stack gets every check.
  const state = readStackState(name)
  const known = await state.catch((): StackState => ({ status: undefined, isProtected: false }))
  const isDeployed = !isFirstDeployment(known)
  const { region } = place
  const checks: Check[] = [
    { name: 'bootstrap', run: () => checkBootstrap(place) },
    { name: 'stack', run: async () => checkStackState(name, await state) },
    { name: 'concurrency', run: () => checkConcurrency(settings, { isDeployed, region }) },
    ...(settings.hasCdn ? [{ name: 'cloudfront', run: checkCloudFront }] : []),
    ...(isDeployed ? [] : leftoverChecks(settings, name, place)),
    ...certificateChecks(options, place),
    ...webAclChecks(settings, place),
    ...(config === undefined ? [] : [{ name: 'models', run: () => checkBedrockModels(config, region) }]),
    ...(settings.relay === 'web' ? [{ name: 'web functions', run: () => checkWebFunctions(region) }] : []),
  ]
  return (await Promise.all(checks.map(runCheck))).flat()
}

/** The configuration for the checks of the account, undefined if it is not valid, and what is found in it. */
function readConfiguration(settings: StageSettings, environment: Environment) {
  try {
    const loaded = loadGatewayConfig({ file: settings.configFile, environment, mode: 'synth' })
    return { config: loaded.config, found: describeConfiguration(settings, loaded) }
  } catch (error) {
    if (error instanceof OperatorError) {
      const advice = `Correct ${settings.configFile}, or the variables that it names.`
      return { config: undefined, found: [wrong('configuration', error.message, advice)] }
    }
    throw error
  }
}

function describeConfiguration(settings: StageSettings, loaded: LoadedConfig): Finding[] {
  const { config, leftOut } = loaded
  requireChannels(settings, loaded)
  const channels = config.channels.map(({ id }) => id).join(', ')
  if (channels === '') {
    const unset = leftOut.length === 0 ? '' : `, because the base urls of ${leftOut.join(', ')} are not set`
    const message = `${settings.configFile} has no channel${unset}: every request would be refused`
    return [warning('configuration', message, 'Set the base urls of the upstreams.')]
  }
  const without = leftOut.length === 0 ? '' : `, and without ${leftOut.join(', ')}, whose base urls are not set`
  const advice = `If that is not meant, set the variables of the channels, or correct ${settings.configFile}.`
  return [
    fine('configuration', `${settings.configFile}, with the channels ${channels}${without}`),
    ...[...upstreamWarnings(config), ...catalogueWarnings(config)].map((message) =>
      warning('configuration', message, advice),
    ),
  ]
}

function leftoverChecks({ table, hasCdn, frontDoor }: StageSettings, name: string, { region }: Place): Check[] {
  const hasFrontDoor = frontDoor !== undefined
  return [
    { name: 'tables', run: () => checkTables(name, table) },
    { name: 'buckets', run: () => checkBuckets(name) },
    { name: 'secrets', run: () => checkSecrets(name) },
    { name: 'log groups', run: () => checkLogGroups(name) },
    ...(hasCdn ? [{ name: 'cdn names', run: () => checkCdnNames(name, { region, hasFrontDoor }) }] : []),
  ]
}

function webAclChecks({ waf, frontDoor }: StageSettings, { account }: Place): Check[] {
  const webAclArn = frontDoor?.webAclArn
  const ofTheDoor =
    webAclArn === undefined ? [] : [{ name: 'web acl', run: async () => checkFrontDoorAcl(webAclArn, account) }]
  return [{ name: 'web acl', run: async () => tellWebAcl(waf !== undefined) }, ...ofTheDoor]
}

function certificateChecks({ settings, nowMilliseconds }: AccountOptions, { account }: Place): Check[] {
  return [settings.apiDomain, settings.videoDomain].flatMap((domain) =>
    domain === undefined
      ? []
      : [{ name: 'certificate', run: () => checkCertificate(domain, { account, nowMilliseconds }) }],
  )
}
