import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { channelSchema } from '#core/catalogue/channel.ts'
import { RELAYED_ROUTES } from '#routes/relayed.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { createStack, folderOf, resourcesOf, shippedConfiguration, synthesizeStack } from './synthesize-stack.ts'

type Statement = {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: object
}

/** What the roles of a stack with these channels may do at Bedrock and STS, by the folders of their functions. */
function allowed(channels: readonly object[]): ReadonlyMap<string, readonly object[]> {
  const config = {
    ...shippedConfiguration.config,
    channels: [
      ...shippedConfiguration.config.channels,
      ...channels.map((channel, index) =>
        channelSchema.parse({ id: `aws-${index}`, provider: 'openai', models: { 'chat-default': 'gpt' }, ...channel }),
      ),
    ],
  }
  const template = Template.fromStack(createStack({ config }))
  const policies = resourcesOf(template, 'AWS::IAM::Policy')
  return new Map(
    resourcesOf(template, 'AWS::Lambda::Function').map(({ properties }) => {
      const role = properties.Role['Fn::GetAtt'][0]
      const statements: Statement[] = policies
        .filter((policy) => policy.properties.Roles.some((each: { Ref: string }) => each.Ref === role))
        .flatMap((policy) => policy.properties.PolicyDocument.Statement)
      const ours = statements.filter(({ Action }) => [Action].flat().some((name) => /^(bedrock|sts)/.test(name)))
      const described = ours.map(({ Action, Resource, Condition }) => ({
        actions: [Action].flat(),
        resources: [Resource].flat().map(text),
        ...(Condition === undefined ? {} : { condition: JSON.parse(text(Condition)) }),
      }))
      return [folderOf(properties), described]
    }),
  )
}

/** An expression of CloudFormation with its references in angle brackets. */
function text(expression: unknown): string {
  const joined = JSON.stringify(expression).replaceAll(/\{"Ref":"AWS::(\w+)"\}/g, '"<$1>"')
  const flat = joined.replaceAll(/\{"Fn::Join":\["",\[([^\]]*)\]\]\}/g, (_, parts: string) =>
    JSON.stringify(JSON.parse(`[${parts}]`).join('')),
  )
  return flat.startsWith('"') ? JSON.parse(flat) : flat
}

const INVOKE = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']
const BEDROCK = { auth: { aws: { service: 'bedrock', region: 'us-west-2' } } }
const chat = (channels: readonly object[]) => allowed(channels).get('api/create-chat-completion')

describe('permissions for upstreams without a key', () => {
  it('are those to invoke the listed models in their region, and no others', () => {
    const models = { 'chat-default': 'openai.gpt-oss-120b-1:0' }
    expect(chat([{ ...BEDROCK, models }])).toEqual([
      { actions: INVOKE, resources: ['arn:<Partition>:bedrock:us-west-2::foundation-model/openai.gpt-oss-120b-1:0'] },
    ])
  })

  it('name an inference profile, and its model in any region only for that profile', () => {
    const arn = 'arn:<Partition>:bedrock:us-west-2:<AccountId>:inference-profile/eu.openai.gpt-6-astra'
    const models = { 'chat-default': { id: 'eu.openai.gpt-6-astra' } }
    expect(chat([{ ...BEDROCK, models }])).toEqual([
      { actions: INVOKE, resources: [arn] },
      {
        actions: INVOKE,
        resources: ['arn:<Partition>:bedrock:*::foundation-model/openai.gpt-6-astra'],
        condition: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
      },
    ])
  })

  it('name an application inference profile, and whatever model is behind that profile alone', () => {
    const arn = 'arn:aws:bedrock:us-west-2:111122223333:application-inference-profile/abc123'
    expect(chat([{ ...BEDROCK, models: { 'chat-default': arn } }])).toEqual([
      { actions: INVOKE, resources: [arn] },
      {
        actions: INVOKE,
        resources: ['arn:<Partition>:bedrock:*::foundation-model/*'],
        condition: { StringEquals: { 'bedrock:InferenceProfileArn': arn } },
      },
    ])
  })

  it('are one statement for all plain models of a region', () => {
    const models = { 'chat-default': 'openai.a', 'text-embedding-3-small': 'amazon.b', 'image-v3': 'openai.a' }
    const [statement, ...others] = chat([{ ...BEDROCK, models }]) ?? []
    expect(others).toEqual([])
    expect(statement).toMatchObject({
      resources: [/amazon\.b$/, /openai\.a$/].map((end) => expect.stringMatching(end)),
    })
  })

  it('are inference at the projects of the account for Mantle, in the region of the stage by default', () => {
    expect(chat([{ auth: { aws: { service: 'bedrock-mantle' } } }])).toEqual([
      {
        actions: ['bedrock-mantle:CreateInference'],
        resources: ['arn:<Partition>:bedrock-mantle:<Region>:<AccountId>:project/*'],
      },
    ])
  })

  it('are to assume the role of a channel that has one, and to invoke nothing', () => {
    const role_arn = 'arn:aws:iam::999988887777:role/models/invoke'
    const auth = { aws: { service: 'bedrock', role_arn, external_id: 'reelgate' } }
    expect(chat([{ auth }])).toEqual([{ actions: ['sts:AssumeRole'], resources: [role_arn] }])
  })

  it('are tokens of five minutes for the audiences of the providers of the channels alone', () => {
    const ids = { organization_id: 'org', service_account_id: 'svac_1' }
    const anthropic = { provider: 'anthropic', federation_rule_id: 'fdrl_1', ...ids }
    const openai = { provider: 'openai', identity_provider_id: 'idp_1', service_account_id: 'sa_1' }
    const condition = (...audiences: string[]) => ({
      'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': audiences },
      NumericLessThanEquals: { 'sts:DurationSeconds': 300 },
    })
    const channel = { base_url: 'https://api.anthropic.com/v1', auth: { workload_identity: anthropic } }
    const other = { base_url: 'https://api.openai.com/v1', auth: { workload_identity: openai } }
    const actions = ['sts:GetWebIdentityToken']
    expect(chat([channel])).toEqual([{ actions, resources: ['*'], condition: condition('https://api.anthropic.com') }])
    expect(chat([channel, other, other])).toEqual([
      { actions, resources: ['*'], condition: condition('https://api.anthropic.com', 'https://api.openai.com/v1') },
    ])
  })

  it('are given to relayed functions alone, and to none without such a channel', () => {
    const withAws = allowed([BEDROCK])
    const given = [...withAws].filter(([, statements]) => statements.length > 0).map(([folder]) => folder)
    const ours = (template: Template) =>
      resourcesOf(template, 'AWS::IAM::Policy').filter((each) => /bedrock|"sts:/.test(JSON.stringify(each)))
    expect(given.sort()).toEqual(RELAYED_ROUTES.map(({ operation }) => `api/${operation}`).sort())
    expect(ours(synthesizeStack())).toEqual([])
  })

  it('pass the rules of cdk-nag, and add no resource', () => {
    const { config } = loadGatewayConfig({
      file: join(REPOSITORY_ROOT, 'config/examples/bedrock.yaml'),
      environment: {},
      mode: 'synth',
    })
    const app = 'arn:aws:bedrock:us-west-2:111122223333:application-inference-profile/abc123'
    const openai = { provider: 'openai', identity_provider_id: 'idp_1', service_account_id: 'sa_1' }
    const more = [
      { ...BEDROCK, models: { 'gpt-oss': app } },
      { base_url: 'https://api.openai.com/v1', auth: { workload_identity: openai } },
    ].map((channel, index) =>
      channelSchema.parse({ id: `more-${index}`, provider: 'openai', models: { 'gpt-oss': 'gpt' }, ...channel }),
    )
    const stack = createStack({ config: { ...config, channels: [...config.channels, ...more] } })
    // Each channel has an alarm of its own, whatever its credentials.
    const namesOf = (template: Template) =>
      Object.keys(template.toJSON().Resources).filter((name) => !name.includes('ChannelFault'))
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
    expect(namesOf(Template.fromStack(stack)).sort()).toEqual(namesOf(synthesizeStack()).sort())
  })
})
