import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { CloudWatchLogsClient, paginateDescribeLogGroups } from '@aws-sdk/client-cloudwatch-logs'
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { paginateListBuckets, S3Client } from '@aws-sdk/client-s3'
import { paginateListSecrets, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import * as z from 'zod'
import { RESERVED_IN_PROD, StageSettingsError } from '../../config/context-settings.ts'
import { PIPELINE_FUNCTIONS } from '../../config/platform-facts.ts'
import { RECONCILE_RESERVED, refuseUnsupportedRegion, type StageSettings } from '../../config/stage-settings.ts'
import { type Finding, fine, warning, wrong } from '../findings.ts'
import { signedGet } from './upstream-checks.ts'

/** The state of a stage's stack in CloudFormation. */
export type StackState = { readonly status: string | undefined; readonly isProtected: boolean }

const PAGE = 'docs/deploy.md, "The first deployment failed"'

/** Reads the stack of a stage; `status` is undefined if there is none. */
export async function readStackState(name: string): Promise<StackState> {
  try {
    const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: name }))
    const { StackStatus, EnableTerminationProtection = false } = Stacks?.[0] ?? {}
    return { status: StackStatus, isProtected: EnableTerminationProtection }
  } catch (error) {
    if (isNoStack(error)) {
      return { status: undefined, isProtected: false }
    }
    throw error
  }
}

/** CloudFormation has no specific error for a missing stack. */
export function isNoStack(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist')
}

/** Whether a deployment creates the stack, instead of updating it. */
export function isFirstDeployment({ status }: StackState): boolean {
  return status === undefined || status === 'REVIEW_IN_PROGRESS' || isFailedCreation(status)
}

function isFailedCreation(status: string): boolean {
  return ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'].includes(status)
}

/** Whether a deployment can start from this state. */
export function checkStackState(name: string, { status, isProtected }: StackState): Finding[] {
  if (status === undefined || status === 'REVIEW_IN_PROGRESS') {
    return [fine('stack', `there is no ${name} yet: this would be its first deployment`)]
  }
  if (isFailedCreation(status)) {
    return isProtected || status !== 'ROLLBACK_COMPLETE'
      ? [
          wrong(
            'stack',
            `${name} is ${status}${isProtected ? ' and protected' : ''}: cdk cannot delete it`,
            `See ${PAGE}.`,
          ),
        ]
      : [fine('stack', `${name} is ${status}: its creation failed; cdk deletes and recreates it`)]
  }
  if (status.endsWith('_IN_PROGRESS')) {
    return [wrong('stack', `${name} is ${status}`, 'Wait until this has ended, and check again.')]
  }
  return status === 'UPDATE_ROLLBACK_FAILED'
    ? [wrong('stack', `${name} is ${status}`, `Run \`npx cdk rollback ${name}\`, then check again.`)]
    : [fine('stack', `${name} is ${status}: it would be updated`)]
}

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
  return pipelineReserved * PIPELINE_FUNCTIONS.length + reconcileReserved
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
  const fitting = Math.floor((room - RECONCILE_RESERVED) / PIPELINE_FUNCTIONS.length)
  return `-c pipelineReservedConcurrency=${Math.max(0, Math.min(RESERVED_IN_PROD, fitting))}`
}

/** Asks AWS for more concurrent executions. */
function quotaCommand(region: string, desired: number): string {
  return `aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${desired} --region ${region}`
}

/** CloudFormation adds this tag to its resources. */
const STACK_TAG = 'aws:cloudformation:stack-name'

/** The page about the remains of a removed or failed stack. */
const REMOVING = 'docs/deploy.md, "Removing"'

/** Tables of an earlier stack of this name. @param used the table in the settings. */
export async function checkTables(stackName: string, used: string | undefined): Promise<Finding[]> {
  const found: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client: new DynamoDBClient({}) }, {})) {
    found.push(...TableNames.filter((name) => name.startsWith(`${stackName}-JobTable`) && name !== used))
  }
  const advice = (name: string) =>
    `Reuse it with -c table=${name}, or delete it (${REMOVING}): a new stack starts with an empty table.`
  return findingsOf('table', found, advice)
}

/** Buckets of an earlier stack of this name, which CloudFormation writes in lower case. */
export async function checkBuckets(stackName: string): Promise<Finding[]> {
  const Prefix = `${stackName}-VideoBucket`.toLowerCase()
  const found: string[] = []
  for await (const { Buckets = [] } of paginateListBuckets({ client: new S3Client({}) }, { Prefix })) {
    found.push(...Buckets.flatMap(({ Name = '' }) => (Name.startsWith(Prefix) ? [Name] : [])))
  }
  return findingsOf('bucket', found, () => `A new stack does not use it: delete it (${REMOVING}).`)
}

/** Secrets of an earlier stack of this name, found by CloudFormation's tag, because their names do not begin with the stack's. */
export async function checkSecrets(stackName: string): Promise<Finding[]> {
  const Filters = [
    { Key: 'tag-key' as const, Values: [STACK_TAG] },
    { Key: 'tag-value' as const, Values: [stackName] },
  ]
  const found: string[] = []
  for await (const { SecretList = [] } of paginateListSecrets({ client: new SecretsManagerClient({}) }, { Filters })) {
    for (const { Name = '', Tags = [] } of SecretList) {
      // The filter matches by prefix.
      if (Tags.some(({ Key, Value }) => Key === STACK_TAG && Value === stackName)) {
        found.push(Name)
      }
    }
  }
  return findingsOf(
    'secret',
    found,
    () => `A new stack creates its own: copy the values that you need, then delete it (${REMOVING}).`,
  )
}

/** Log groups of an earlier stack of this name. They do no harm. */
export async function checkLogGroups(stackName: string): Promise<Finding[]> {
  // `Reelgate-prod-eu-...` belongs to another stage: in this one, a capital follows the stack's name.
  const own = new RegExp(`^${stackName}-[A-Z]`)
  let count = 0
  const client = new CloudWatchLogsClient({})
  for await (const { logGroups = [] } of paginateDescribeLogGroups(
    { client },
    { logGroupNamePrefix: `${stackName}-` },
  )) {
    count += logGroups.filter(({ logGroupName = '' }) => own.test(logGroupName)).length
  }
  return [
    count === 0
      ? fine('log groups', 'none of an earlier stack')
      : fine('log groups', `${count} of an earlier stack, which do no harm; ${REMOVING}, says how to delete them`),
  ]
}

function findingsOf(kind: string, names: readonly string[], advice: (name: string) => string): Finding[] {
  return names.length === 0
    ? [fine(`${kind}s`, 'none of an earlier stack')]
    : names.map((name) => wrong(`${kind}s`, `the ${kind} ${name} of an earlier stack exists`, advice(name)))
}

/** GetWebAccountSettings of the API `lambda-web` (botocore 1.43.107, lambda-web/2025-03-07). The SDK for JavaScript has no client of it. */
const SETTINGS_PATH = '/2025-03-07/web-account-settings'

/** Of each environment of a Web Function. */
const VCPUS_PER_ENVIRONMENT = 2

/** One revision is replaced by another while both serve. */
const ENVIRONMENTS_MIN = 4

const settings = z.object({
  accountQuotas: z.object({ maxTotalArmVCpus: z.number(), maxTotalRateLimit: z.number() }),
})

/**
 * Whether the region has Web Functions, and the account enough of them. AWS publishes no list of regions: the API of the region is asked.
 * Nothing of this was tried with a real account.
 */
export async function checkWebFunctions(region: string): Promise<Finding[]> {
  const advice =
    'Choose a region that has Lambda Web Functions, let the caller use lambda:GetWebAccountSettings, or remove -c relay=web.'
  const host = `lambda.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`
  const asked = signedGet({ service: 'lambda', region, host, path: SETTINGS_PATH })
  const reply = await asked.catch((error: unknown) => String(error))
  if (typeof reply === 'string' || reply.status !== 200) {
    const how = typeof reply === 'string' ? reply : `${reply.status} ${reply.body.slice(0, 200)}`
    return [wrong('web functions', `Lambda of ${region} does not say what it allows of Web Functions: ${how}`, advice)]
  }
  const { maxTotalArmVCpus, maxTotalRateLimit } = settings.parse(JSON.parse(reply.body)).accountQuotas
  const environments = Math.floor(maxTotalArmVCpus / VCPUS_PER_ENVIRONMENT)
  const found = `${region} allows ${environments} environments of Web Functions and ${maxTotalRateLimit} requests a second`
  return environments < ENVIRONMENTS_MIN
    ? [
        wrong(
          'web functions',
          found,
          `Ask AWS for at least ${ENVIRONMENTS_MIN * VCPUS_PER_ENVIRONMENT} vCPUs of Web Functions.`,
        ),
      ]
    : [fine('web functions', found)]
}
