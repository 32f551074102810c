import { Aws } from 'aws-cdk-lib'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import { upstreamModelOf } from '#core/catalogue/apis.ts'
import type { Channel, RelayChannel } from '#core/catalogue/channel.ts'
import { TOKEN_PROVIDERS } from '#core/catalogue/upstream-auth.ts'
import { acknowledgeWildcard } from './acknowledge.ts'

/** Lets code call the upstreams of these channels by its role: these models, roles and audiences, and no others. */
export function grantUpstreams(grantee: Construct & IGrantable, channels: readonly Channel[]): void {
  const relayed = channels.filter((channel): channel is RelayChannel => channel.provider === 'openai')
  for (const statement of unite(relayed.flatMap(statementsOf))) {
    const { actions, resourceArns, conditions = {} } = statement
    Grant.addToPrincipal({
      grantee,
      actions: [...actions],
      resourceArns: [...resourceArns],
      conditions: { ...conditions },
    })
    for (const { arn, reason } of statement.wildcards) {
      acknowledgeWildcard(grantee, reason, arn)
    }
  }
  grantTokens(grantee, relayed)
}

type Statement = {
  readonly actions: readonly string[]
  readonly resourceArns: readonly string[]
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly wildcards: readonly { readonly arn: string; readonly reason: string }[]
}

/** One statement for the same actions under the same conditions, because the size of a policy is limited. */
function unite(statements: readonly Statement[]): Statement[] {
  const alike = Map.groupBy(statements, ({ actions, conditions }) => JSON.stringify([actions, conditions]))
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (first === undefined) {
      return []
    }
    const all = [first, ...others]
    const resourceArns = [...new Set(all.flatMap((each) => each.resourceArns))]
    return [{ ...first, resourceArns, wildcards: all.flatMap((each) => each.wildcards) }]
  })
}

function statementsOf(channel: RelayChannel): Statement[] {
  const aws = channel.auth?.aws
  if (aws === undefined) {
    return []
  }
  const { service, region = Aws.REGION, role_arn: role } = aws
  if (role !== undefined) {
    return [{ actions: ['sts:AssumeRole'], resourceArns: [role], wildcards: [] }]
  }
  if (service === 'bedrock') {
    const ids = Object.keys(channel.models).map((id) => upstreamModelOf(channel, id))
    return [...new Set(ids)].flatMap((id) => invocation(id, region))
  }
  const arn = `arn:${Aws.PARTITION}:bedrock-mantle:${region}:${Aws.ACCOUNT_ID}:project/*`
  const reason =
    'A project is chosen by a header that the gateway never sends; its policy names models, this one cannot.'
  return [{ actions: ['bedrock-mantle:CreateInference'], resourceArns: [arn], wildcards: [{ arn, reason }] }]
}

const INVOKE = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']

/** An inference profile of AWS: an area, then the id of its model (Bedrock, "Supported Regions and models for inference profiles"). */
const PROFILE = /^(global|apac|[a-z]{2}(?:-gov)?)\.(.+)$/

const ANY_REGION =
  'A profile sends requests to its model in any of its regions; the condition admits this profile alone.'
const ANY_MODEL = 'A profile of one’s own does not tell its model; the condition admits this profile alone.'

/** What it takes to invoke a model by its id, by an inference profile, or by an ARN. */
function invocation(id: string, region: string): Statement[] {
  if (id.startsWith('arn:')) {
    return id.includes('inference-profile/')
      ? profile(id, systemModelOf(id) ?? '*')
      : [{ actions: INVOKE, resourceArns: [id], wildcards: [] }]
  }
  const [, , model] = PROFILE.exec(id) ?? []
  return model === undefined
    ? [{ actions: INVOKE, resourceArns: [modelArn(region, id)], wildcards: [] }]
    : profile(`arn:${Aws.PARTITION}:bedrock:${region}:${Aws.ACCOUNT_ID}:inference-profile/${id}`, model)
}

/** The model of a profile of AWS that is named by its ARN. */
function systemModelOf(arn: string): string | undefined {
  return PROFILE.exec(/:inference-profile\/(.+)$/.exec(arn)?.[1] ?? '')?.[2]
}

function profile(arn: string, model: string): Statement[] {
  const behind = modelArn('*', model)
  return [
    { actions: INVOKE, resourceArns: [arn], wildcards: [] },
    {
      actions: INVOKE,
      resourceArns: [behind],
      conditions: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
      wildcards: [{ arn: behind, reason: model === '*' ? ANY_MODEL : ANY_REGION }],
    },
  ]
}

function modelArn(region: string, model: string): string {
  return `arn:${Aws.PARTITION}:bedrock:${region}::foundation-model/${model}`
}

/** Seconds for which a token of the role is valid at most. */
const TOKEN_SECONDS_MAX = 300

/** Tokens have no resource; the audiences are what bounds them. */
function grantTokens(grantee: Construct & IGrantable, channels: readonly RelayChannel[]): void {
  const providers = channels.flatMap(({ auth }) => auth?.workload_identity?.provider ?? [])
  const audiences = [...new Set(providers)].map((provider) => TOKEN_PROVIDERS[provider].audience)
  if (audiences.length > 0) {
    Grant.addToPrincipal({
      grantee,
      actions: ['sts:GetWebIdentityToken'],
      resourceArns: ['*'],
      conditions: {
        'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': audiences },
        NumericLessThanEquals: { 'sts:DurationSeconds': TOKEN_SECONDS_MAX },
      },
    })
    acknowledgeWildcard(grantee, 'A token is for its audience, which the condition names; there is no resource.', '*')
  }
}
