import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { ROUTES } from '#core/contract/routes.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../../config/function-timeouts.ts'
import { refuseUnsupportedRegion } from '../../config/region-support.ts'
import type { StageSettings } from '../../config/stage-settings.ts'
import { StageSettingsError } from '../../config/stage-settings-error.ts'
import { type Finding, fine, wrong } from '../health/finding.ts'
import { isNoStack } from './stack-state.ts'

/** Account, region and caller of a deployment. */
export type Place = { readonly account: string; readonly region: string }

/** Required by the stack's synthesizer (aws-cdk-lib, `MIN_BOOTSTRAP_STACK_VERSION`). */
const BOOTSTRAP_VERSION_MIN = 6
const BOOTSTRAP_STACK = 'CDKToolkit'

/** Lambda refuses a reservation that leaves less for the functions without one. */
const UNRESERVED_MIN = 100

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

/** Functions of the admin API. */
const ADMIN_FUNCTIONS = 3

/** Instances that the functions of a stage reserve, or keep warm without reserving them. */
export function reservedInstances({
  concurrency,
  frontDoor,
}: Pick<StageSettings, 'concurrency' | 'frontDoor'>): number {
  const { apiReserved, pipelineReserved = 0, reconcileReserved = 0, apiProvisioned } = concurrency
  const warmed = ROUTES.filter((route) => !('isPublic' in route)).length
  const { api: _api, relay: _relay, reconcile: _reconcile, ...pipeline } = FUNCTION_TIMEOUT_SECONDS
  return (
    // The fallback function beside the routes.
    (apiReserved === undefined
      ? apiProvisioned * warmed
      : apiReserved * (ROUTES.length + 1 + (frontDoor === undefined ? 0 : ADMIN_FUNCTIONS))) +
    pipelineReserved * Object.keys(pipeline).length +
    reconcileReserved
  )
}

/**
 * Whether Lambda's concurrency is enough for the settings and for clients.
 * @param isDeployed an existing stack has its reservations already, so the unreserved count includes them.
 */
export async function checkConcurrency(settings: StageSettings, isDeployed: boolean): Promise<Finding[]> {
  const { AccountLimit } = await new LambdaClient({}).send(new GetAccountSettingsCommand({}))
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: unreserved = 0 } = AccountLimit ?? {}
  const asked = reservedInstances(settings)
  const raise = 'raise the quota "Concurrent executions" of Lambda (Service Quotas)'
  if (!isDeployed && asked > 0 && unreserved - asked < UNRESERVED_MIN) {
    const found = `the settings reserve ${asked} instances, ${unreserved} are unreserved, and Lambda keeps ${UNRESERVED_MIN} of them`
    return [wrong('concurrency', found, `Remove the settings of reserved and provisioned concurrency, or ${raise}.`)]
  }
  if (limit < UNRESERVED_MIN && settings.retainsData) {
    const found = `the account runs ${limit} functions at once, which limits it to as many concurrent requests`
    return [wrong('concurrency', found, `You can deploy; before clients come, ${raise}.`)]
  }
  return [fine('concurrency', `the account runs ${limit} functions at once, ${asked} of them reserved by the settings`)]
}
