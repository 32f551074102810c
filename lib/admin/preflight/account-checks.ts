import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { StageSettingsError } from '../../config/context-settings.ts'
import { PIPELINE_FUNCTIONS } from '../../config/platform-facts.ts'
import {
  PROFILE_DEFAULTS,
  RECONCILE_RESERVED,
  refuseUnsupportedRegion,
  type StageSettings,
} from '../../config/stage-settings.ts'
import { type Finding, fine, warning, wrong } from '../health/finding.ts'
import { isNoStack } from './stack-state.ts'

/** Account, region and caller of a deployment. */
export type Place = { readonly account: string; readonly region: string }

/** Required by the stack's synthesizer (aws-cdk-lib, `MIN_BOOTSTRAP_STACK_VERSION`). */
const BOOTSTRAP_VERSION_MIN = 6
const BOOTSTRAP_STACK = 'CDKToolkit'

/**
 * Lambda refuses a reservation that leaves less for the functions without one (Lambda Developer Guide, "Configuring reserved
 * concurrency"). An account with a lower quota, such as the 10 of a new one, can reserve nothing: its refusals name the quota as the minimum.
 */
const UNRESERVED_MIN = 100
/** The default quota of an account that is not new (Lambda, "Quotas"). */
const QUOTA_USUAL = 1000

/** Account, caller and region of the AWS environment. @throws what the SDK throws without one. */
export async function readPlace(): Promise<Place & { readonly caller: string }> {
  const client = new STSClient({})
  const region = await client.config.region()
  const { Account = '', Arn = '' } = await client.send(new GetCallerIdentityCommand({}))
  return { account: Account, caller: Arn, region }
}

/** The caller and the region, and whether the region supports the stack. */
export function checkPlace({ account, caller, region }: Place & { readonly caller: string }): Finding[] {
  const found = fine('caller', `${caller} in account ${account}, region ${region}`)
  try {
    refuseUnsupportedRegion({ region, emulator: false })
    return [found]
  } catch (error) {
    if (error instanceof StageSettingsError) {
      return [found, wrong('region', error.message, 'Choose another region: AWS_REGION, or the profile.')]
    }
    throw error
  }
}

/** Whether `cdk bootstrap` was run in this account and region, in a version that is new enough. */
export async function checkBootstrap({ account, region }: Place): Promise<Finding[]> {
  const advice = `Run \`npx cdk bootstrap aws://${account}/${region}\`; if it was run with --toolkit-stack-name, ignore this.`
  try {
    const client = new CloudFormationClient({})
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: BOOTSTRAP_STACK }))
    const version = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue
    const status = Stacks?.[0]?.StackStatus ?? 'unknown'
    if (Number(version) >= BOOTSTRAP_VERSION_MIN) {
      return [fine('bootstrap', `${BOOTSTRAP_STACK} is ${status}, version ${version}`)]
    }
    const found = `${BOOTSTRAP_STACK} is ${status}, version ${version ?? 'unknown'}; ${BOOTSTRAP_VERSION_MIN} is needed`
    return [wrong('bootstrap', found, advice)]
  } catch (error) {
    if (isNoStack(error)) {
      return [wrong('bootstrap', `there is no stack ${BOOTSTRAP_STACK} in ${region}`, advice)]
    }
    throw error
  }
}

/** Instances that the functions of a stage reserve. */
export function reservedInstances({ concurrency }: Pick<StageSettings, 'concurrency'>): number {
  const { pipelineReserved = 0, reconcileReserved = 0 } = concurrency
  return pipelineReserved * PIPELINE_FUNCTIONS + reconcileReserved
}

/**
 * Whether Lambda's concurrency is enough for the settings and for clients, and which reservations fit. All functions of an account
 * and region share one quota: chats that take all of it hold up Reconcile and the steps of video jobs.
 * @param isDeployed an existing stack has its reservations already, so the unreserved count includes them.
 */
export async function checkConcurrency(
  settings: Pick<StageSettings, 'concurrency' | 'profile'>,
  { isDeployed, region }: { readonly isDeployed: boolean; readonly region: string },
): Promise<Finding[]> {
  const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}))
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {}
  const asked = reservedInstances(settings)
  const kept = Math.min(UNRESERVED_MIN, limit)
  const room = (isDeployed ? limit : unreserved) - kept
  const others = isDeployed ? 0 : limit - unreserved
  const more = `ask for more: \`${quotaCommand(region, Math.max(QUOTA_USUAL, asked + others + UNRESERVED_MIN))}\`.`
  if (asked > 0 && asked > room) {
    const found = `the settings reserve ${asked} instances of the ${limit} that the account runs at once; ${others} are reserved already, and Lambda keeps ${kept} unreserved`
    return [wrong('concurrency', found, `Deploy with \`${fittingSettings(room)}\`, or first ${more}`)]
  }
  if (limit < UNRESERVED_MIN) {
    const found = `the account runs ${limit} functions at once: chats, other requests and the steps of video jobs wait for each other`
    return [warning('concurrency', found, `You can deploy; before clients come, ${more}`)]
  }
  if (settings.profile === 'prod' && asked === 0) {
    const found = `chats can take all of the ${limit} instances of the account, and hold up Reconcile and the steps of video jobs`
    const fitting = room > 0 ? `Deploy with \`${fittingSettings(room)}\`` : 'Leave it'
    return [warning('concurrency', found, `${fitting}, or ${more}`)]
  }
  return [fine('concurrency', `the account runs ${limit} functions at once, ${asked} of them reserved by the settings`)]
}

/** The reservations that leave Lambda its minimum: those of `prod`, or fewer. */
function fittingSettings(room: number): string {
  const fitting = Math.floor((room - RECONCILE_RESERVED) / PIPELINE_FUNCTIONS)
  return `-c pipelineReservedConcurrency=${Math.max(0, Math.min(PROFILE_DEFAULTS.prod.pipelineReservedConcurrency, fitting))}`
}

/** Asks AWS for more concurrent executions. */
function quotaCommand(region: string, desired: number): string {
  return `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${desired} --region ${region}`
}
