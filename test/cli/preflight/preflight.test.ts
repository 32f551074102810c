import { ACMClient, DescribeCertificateCommand } from '@aws-sdk/client-acm'
import { CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation'
import {
  CloudFrontClient,
  ListCachePoliciesCommand,
  ListDistributionsCommand,
  ListFunctionsCommand,
  ListKeyGroupsCommand,
  ListOriginAccessControlsCommand,
  ListPublicKeysCommand,
  ListResponseHeadersPoliciesCommand,
} from '@aws-sdk/client-cloudfront'
import { CloudWatchLogsClient, DescribeLogGroupsCommand } from '@aws-sdk/client-cloudwatch-logs'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3'
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { Template } from 'aws-cdk-lib/assertions'
import { mockClient } from 'aws-sdk-client-mock'
import type { Finding } from '../../../lib/cli/findings.ts'
import { reservedInstances } from '../../../lib/cli/preflight/account-checks.ts'
import { runPreflight } from '../../../lib/cli/preflight/preflight.ts'
import { readStageSettings } from '../../../lib/config/stage-settings.ts'
import { SHIPPED_FILE } from '../../core/shipped-catalogue.ts'
import { EVERY_SETTING } from '../../stack/every-setting.ts'
import { createStack, folderOf, resourcesOf, stageSettings } from '../../stack/synthesize-stack.ts'

const ACCOUNT = '111111111111'
const NOW = Date.parse('2026-11-22T10:00:00Z')
const API_CERTIFICATE = `arn:aws:acm:eu-central-1:${ACCOUNT}:certificate/0198b3a0-0000-7000-8000-000000000000`
const NAMED = { apiDomain: 'api.example.com', apiCertificateArn: API_CERTIFICATE }

const sts = mockClient(STSClient)
const cloudFormation = mockClient(CloudFormationClient)
const lambda = mockClient(LambdaClient)
const cloudFront = mockClient(CloudFrontClient)
const dynamoDb = mockClient(DynamoDBClient)
const s3 = mockClient(S3Client)
const secrets = mockClient(SecretsManagerClient)
const logs = mockClient(CloudWatchLogsClient)
const acm = mockClient(ACMClient)
const clients = [sts, cloudFormation, lambda, cloudFront, dynamoDb, s3, secrets, logs, acm]
const environment = { ...process.env }

/** As the services say it. */
class ServiceError extends Error {
  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}
const DENIED = new ServiceError('AccessDeniedException', 'User: deployer is not authorized to perform that')
const noStack = (name: string) => new ServiceError('ValidationError', `Stack with id ${name} does not exist`)

function haveStack(StackName: string, stack: Partial<Stack>): void {
  const found = { StackName, CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE' as const, ...stack }
  cloudFormation.on(DescribeStacksCommand, { StackName }).resolves({ Stacks: [found] })
}

function haveConcurrency(ConcurrentExecutions: number, UnreservedConcurrentExecutions = ConcurrentExecutions): void {
  const AccountLimit = { ConcurrentExecutions, UnreservedConcurrentExecutions }
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit })
}

function haveCertificate(certificate: object): void {
  const Certificate = { Status: 'ISSUED', SubjectAlternativeNames: ['*.example.com'], ...certificate }
  acm.on(DescribeCertificateCommand).resolves({ Certificate: Certificate as { Status: 'ISSUED' } })
}

/** An account in which a first deployment meets nothing. */
beforeEach(() => {
  process.env.AWS_REGION = 'eu-central-1'
  process.env.P1_BASE_URL = 'https://p1.example.com'
  process.env.P1_ASYNC_HEADER = 'X-Async'
  for (const client of clients) {
    client.reset()
  }
  sts.on(GetCallerIdentityCommand).resolves({ Account: ACCOUNT, Arn: `arn:aws:iam::${ACCOUNT}:user/deployer` })
  haveStack('CDKToolkit', { Outputs: [{ OutputKey: 'BootstrapVersion', OutputValue: '30' }] })
  cloudFormation.on(DescribeStacksCommand, { StackName: 'Reelgate-prod' }).rejects(noStack('Reelgate-prod'))
  haveConcurrency(1000)
  cloudFront.on(ListDistributionsCommand).resolves({
    DistributionList: { Marker: '', MaxItems: 1, IsTruncated: false, Quantity: 1, Items: [{} as never] },
  })
  cloudFront.on(ListKeyGroupsCommand).resolves({})
  cloudFront.on(ListPublicKeysCommand).resolves({})
  cloudFront.on(ListOriginAccessControlsCommand).resolves({})
  cloudFront.on(ListResponseHeadersPoliciesCommand).resolves({})
  cloudFront.on(ListCachePoliciesCommand).resolves({})
  cloudFront.on(ListFunctionsCommand).resolves({})
  dynamoDb.on(ListTablesCommand).resolves({ TableNames: ['Reelgate-prod-eu-JobTable1', 'orders'] })
  s3.on(ListBucketsCommand).resolves({ Buckets: [] })
  secrets.on(ListSecretsCommand).resolves({ SecretList: [] })
  logs.on(DescribeLogGroupsCommand).resolves({ logGroups: [{ logGroupName: 'Reelgate-prod-eu-GatewayApi1' }] })
  haveCertificate({})
})
afterAll(() => {
  process.env = environment
})

/** Most of the shipped models have no channel here. */
const UNSERVED = 'configuration: clients do not see models'

async function look(context: Readonly<Record<string, unknown>> = {}) {
  const given: Readonly<Record<string, unknown>> = { stage: 'prod', config: SHIPPED_FILE, ...context }
  const readSettings = () => readStageSettings((name) => given[name])
  const { json, text, isOk } = await runPreflight({ readSettings, environment: process.env, nowMilliseconds: NOW })
  const { findings } = json as { findings: Finding[] }
  const saying = (verdict: Finding['verdict']) =>
    findings.filter((each) => each.verdict === verdict).map(({ check, message }) => `${check}: ${message}`)
  expect(findings.every(({ verdict, advice }) => (verdict === 'ok' ? advice === null : advice?.endsWith('.')))).toBe(
    true,
  )
  expect(isOk).toBe(saying('wrong').length === 0)
  const adviceOf = (check: string) => findings.find((each) => each.check === check)?.advice
  return {
    wrong: saying('wrong'),
    warnings: saying('warning').filter((each) => !each.startsWith(UNSERVED)),
    unserved: saying('warning').filter((each) => each.startsWith(UNSERVED)),
    text,
    adviceOf,
    checks: findings.map(({ check }) => check),
  }
}

describe('preflight of a first deployment', () => {
  it('finds nothing wrong in an account that is ready, and says what it looked at', async () => {
    const { wrong, warnings, text } = await look(NAMED)
    expect([...wrong, ...warnings]).toEqual([])
    expect(text).toContain(`arn:aws:iam::${ACCOUNT}:user/deployer in account ${ACCOUNT}, region eu-central-1`)
    expect(text).toContain('there is no Reelgate-prod yet: this would be its first deployment')
    expect(text).toMatch(/with the channels p1-main, and without p2-direct, .*, whose base urls are not set/)
    expect(text).toMatch(/CDKToolkit is CREATE_COMPLETE, version 30/)
  })

  it('warns of an upstream on this machine, which no function reaches', async () => {
    process.env.P1_BASE_URL = 'http://127.0.0.1:9'
    expect((await look(NAMED)).warnings).toEqual([
      'configuration: channel p1-main has an upstream on this machine, which no function on AWS reaches',
    ])
  })

  it('warns of the header of the simulator at a real upstream', async () => {
    delete process.env.P1_ASYNC_HEADER
    expect((await look(NAMED)).warnings).toEqual([
      'configuration: channel p1-main sends X-Provider-Async, the header of the simulator: set its async_header to that of its upstream',
    ])
  })

  it('lists the problems of a configuration that is not valid, each in a line of its own', async () => {
    process.env.P1_BASE_URL = 'p1.example.com'
    const { text, adviceOf } = await look(NAMED)
    expect(text).toMatch(
      /WRONG +configuration +the configuration is not valid\n +.*gateway\.yaml:\d+ channels\[0\]\.base_url/,
    )
    expect(adviceOf('configuration')).toMatch(/^Correct .*gateway\.yaml, or the variables that it names\.$/)
  })

  it('warns of a stage to try things without a channel, whose every request would be refused', async () => {
    delete process.env.P1_BASE_URL
    const { warnings, adviceOf } = await look({ stage: 'dev' })
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^configuration: .* has no channel, because the base urls of p1-main, .* are not set: every request would be refused$/,
      ),
    )
    expect(adviceOf('configuration')).toBe('Set the base urls of the upstreams.')
  })

  it('warns of an upstream without encryption, and of models that no channel has', async () => {
    process.env.P1_BASE_URL = 'http://p1.example.com'
    const { wrong, warnings, unserved } = await look(NAMED)
    expect(wrong).toEqual([])
    expect(warnings).toEqual([
      'configuration: channel p1-main has an http base_url: keys and prompts travel unencrypted',
    ])
    expect(unserved).toEqual([expect.stringContaining('chat-default')])
  })

  it('says what a web ACL adds and costs, with one and without', async () => {
    expect((await look()).text).toContain('-c waf=on limits each address and blocks known attacks, for $10 a month')
    expect((await look({ waf: 'on' })).text).toMatch(/web acl.* limits each address .* for \$10 a month/)
  })

  it.each<[string, () => unknown, string | RegExp, Readonly<Record<string, unknown>>?]>([
    [
      'a region without the CDN',
      () => {
        process.env.AWS_REGION = 'us-gov-west-1'
      },
      'region: the region us-gov-west-1 is in the partition aws-us-gov (GovCloud)',
    ],
    [
      'an account that was not bootstrapped',
      () => cloudFormation.on(DescribeStacksCommand, { StackName: 'CDKToolkit' }).rejects(noStack('CDKToolkit')),
      'bootstrap: there is no stack CDKToolkit in eu-central-1',
    ],
    [
      'an old bootstrap',
      () => haveStack('CDKToolkit', { Outputs: [{ OutputKey: 'BootstrapVersion', OutputValue: '5' }] }),
      'bootstrap: CDKToolkit is CREATE_COMPLETE, version 5; 6 is needed',
    ],
    [
      'a table of an earlier stack',
      () => dynamoDb.on(ListTablesCommand).resolves({ TableNames: ['Reelgate-prod-JobTable67B8'] }),
      'tables: the table Reelgate-prod-JobTable67B8 of an earlier stack exists',
    ],
    [
      'a bucket of an earlier stack',
      () => s3.on(ListBucketsCommand).resolves({ Buckets: [{ Name: 'reelgate-prod-videobucket1' }] }),
      'buckets: the bucket reelgate-prod-videobucket1 of an earlier stack exists',
    ],
    [
      'a secret of an earlier stack',
      () => {
        const Tags = [{ Key: 'aws:cloudformation:stack-name', Value: 'Reelgate-prod' }]
        const other = [{ Key: 'aws:cloudformation:stack-name', Value: 'Reelgate-prod-eu' }]
        const SecretList = [
          { Name: 'ChannelSecret1', Tags },
          { Name: 'ChannelSecret2', Tags: other },
        ]
        secrets.on(ListSecretsCommand).resolves({ SecretList })
      },
      'secrets: the secret ChannelSecret1 of an earlier stack exists',
    ],
    [
      'a name of the CDN that is taken',
      () => {
        const Items = [{ Name: 'Reelgate-prod-videos-eu-central-1' }, { Name: 'Reelgate-prod-videos-us-east-1' }]
        cloudFront
          .on(ListOriginAccessControlsCommand)
          .resolves({ OriginAccessControlList: { Items: Items as never, Quantity: 2 } as never })
      },
      'cdn names: the origin access control Reelgate-prod-videos-eu-central-1 exists already',
    ],
    [
      'a name of the front door that is taken',
      () => {
        const Items = [{ Name: 'Reelgate-prod-api-eu-central-1' }]
        cloudFront
          .on(ListFunctionsCommand)
          .resolves({ FunctionList: { Items: Items as never, Quantity: 1, MaxItems: 100 } })
      },
      'cdn names: the CloudFront function Reelgate-prod-api-eu-central-1 exists already',
    ],
    [
      'no room for the policies of the front door',
      () =>
        cloudFront
          .on(ListCachePoliciesCommand)
          .resolves({ CachePolicyList: { Items: Array(20).fill({}) as never, Quantity: 20, MaxItems: 100 } }),
      'cdn policies: the account has 20 cache policies, of 20 unless its quota was raised',
    ],
    [
      'a web ACL of another account',
      () => undefined,
      'web acl: the web ACL of the front door belongs to account 999999999999',
      { frontDoorWebAclArn: 'arn:aws:wafv2:us-east-1:999999999999:global/webacl/viewers/0198b3a0' },
    ],
    [
      'no room for another key',
      () =>
        cloudFront
          .on(ListPublicKeysCommand)
          .resolves({ PublicKeyList: { Items: Array(10).fill({}) as never, Quantity: 10, MaxItems: 100 } }),
      'cdn keys: the account has 10 public keys, of 10 unless its quota was raised',
    ],
    [
      'a certificate that is not issued',
      () => haveCertificate({ Status: 'PENDING_VALIDATION' }),
      'certificate: the certificate of api.example.com is PENDING_VALIDATION',
      NAMED,
    ],
    [
      'a certificate of another name',
      () => haveCertificate({ SubjectAlternativeNames: ['example.com', '*.eu.example.com'] }),
      'certificate: the certificate is for example.com, *.eu.example.com, not for api.example.com',
      NAMED,
    ],
    [
      'a certificate that has expired',
      () => haveCertificate({ NotAfter: new Date(NOW - 1) }),
      'certificate: the certificate of api.example.com has expired',
      NAMED,
    ],
    [
      'a certificate of another account',
      () =>
        sts.on(GetCallerIdentityCommand).resolves({ Account: '222222222222', Arn: 'arn:aws:iam::222222222222:root' }),
      `certificate: the certificate of api.example.com belongs to account ${ACCOUNT}, and the stack to 222222222222`,
      NAMED,
    ],
    [
      'no upstream',
      () => {
        delete process.env.P1_BASE_URL
      },
      /^configuration: the stage prod has no channel/,
    ],
  ])('finds %s', async (_what, change, expected, context = {}) => {
    change()
    const { wrong } = await look(context)
    expect(wrong).toEqual([
      typeof expected === 'string' ? expect.stringContaining(expected) : expect.stringMatching(expected),
    ])
  })

  it('takes a table that the settings name for no rest', async () => {
    dynamoDb.on(ListTablesCommand).resolves({ TableNames: ['Reelgate-prod-JobTable67B8'] })
    expect((await look({ table: 'Reelgate-prod-JobTable67B8' })).wrong).toEqual([])
  })

  it('warns that nobody can see whether a new account is verified for CloudFront, and says the way out', async () => {
    cloudFront.on(ListDistributionsCommand).resolves({})
    const { wrong, warnings, adviceOf } = await look()
    expect(wrong).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/^cloudfront: the account has no distribution/)])
    expect(adviceOf('cloudfront')).toMatch(/"Your account must be verified.*open a case with AWS Support.*`-c cdn=off`/)
    cloudFront.reset()
    const without = await look({ cdn: 'off' })
    expect([...without.wrong, ...without.warnings]).toEqual([])
    expect(without.checks.filter((check) => /cloudfront|cdn/.test(check))).toEqual([])
    expect(cloudFront.calls()).toHaveLength(0)
  })

  it('counts log groups of this stage only, and leaves them be', async () => {
    const names = ['Reelgate-prod-GatewayApi1', 'Reelgate-prod-eu-GatewayApi1']
    logs.on(DescribeLogGroupsCommand).resolves({ logGroups: names.map((logGroupName) => ({ logGroupName })) })
    const { wrong, text } = await look()
    expect(wrong).toEqual([])
    expect(text).toContain('1 of an earlier stack, which do no harm')
  })

  it.each(clients.slice(1).map((client, index) => [index, client] as const))(
    'says of a check without permission that it could not be made, and goes on (%i)',
    async (_index, client) => {
      client.reset()
      client.rejects(DENIED)
      const { wrong, text } = await look(NAMED)
      expect(wrong.length).toBeGreaterThan(0)
      expect(wrong.every((finding) => finding.includes('could not be checked: User: deployer is not authorized'))).toBe(
        true,
      )
      expect(text).toContain('\nok     ')
    },
  )

  it('checks what is local first, and all of it where there are no credentials', async () => {
    sts.on(GetCallerIdentityCommand).rejects(new ServiceError('CredentialsProviderError', 'no providers'))
    const { wrong, warnings, checks } = await look()
    expect(checks).toEqual(['node', 'settings', 'configuration', 'configuration', 'caller', 'account'])
    expect(wrong).toEqual([
      'caller: could not be checked: no AWS credentials that work (no providers): export them, or sign in and name a profile (AWS_PROFILE)',
    ])
    expect(warnings).toEqual(['account: was not looked at, because there is no caller'])
    expect((await look()).checks).toEqual((await look(NAMED)).checks)
  })

  it('says which setting is wrong, without credentials', async () => {
    sts.on(GetCallerIdentityCommand).rejects(new ServiceError('CredentialsProviderError', 'no providers'))
    const { wrong, checks } = await look({ throttleRate: 'many' })
    expect(checks).toEqual(['node', 'settings'])
    expect(wrong).toEqual([expect.stringMatching(/^settings: the setting throttleRate must be an integer/)])
  })
})

describe('preflight of a stack that is there', () => {
  it.each<[Partial<Stack>, string[]]>([
    [{ StackStatus: 'UPDATE_COMPLETE', EnableTerminationProtection: true }, []],
    [{ StackStatus: 'ROLLBACK_COMPLETE' }, []],
    [
      { StackStatus: 'ROLLBACK_COMPLETE', EnableTerminationProtection: true },
      ['stack: Reelgate-prod is ROLLBACK_COMPLETE and protected: cdk cannot delete it'],
    ],
    [{ StackStatus: 'ROLLBACK_FAILED' }, ['stack: Reelgate-prod is ROLLBACK_FAILED: cdk cannot delete it']],
    [{ StackStatus: 'UPDATE_IN_PROGRESS' }, ['stack: Reelgate-prod is UPDATE_IN_PROGRESS']],
    [{ StackStatus: 'UPDATE_ROLLBACK_FAILED' }, ['stack: Reelgate-prod is UPDATE_ROLLBACK_FAILED']],
  ])('%j', async (stack, wrong) => {
    haveStack('Reelgate-prod', stack)
    expect((await look()).wrong).toEqual(wrong)
  })

  it('takes its own table, keys and reservations for no rests', async () => {
    haveStack('Reelgate-prod', { StackStatus: 'UPDATE_COMPLETE' })
    dynamoDb.on(ListTablesCommand).resolves({ TableNames: ['Reelgate-prod-JobTable67B8'] })
    haveConcurrency(2000, 478)
    expect((await look({ pipelineReservedConcurrency: '150' })).wrong).toEqual([])
  })
})

describe('preflight of the one pool of concurrency', () => {
  it.each<[number, string]>([
    [10, 'pipelineReservedConcurrency=0'],
    [100, 'pipelineReservedConcurrency=0'],
    [108, 'pipelineReservedConcurrency=0'],
    [137, 'pipelineReservedConcurrency=5'],
    [241, 'pipelineReservedConcurrency=19'],
  ])(
    'finds that the reservations of prod do not fit a quota of %i, and prints those that do',
    async (quota, fitting) => {
      haveConcurrency(quota)
      const { wrong, adviceOf } = await look()
      expect(wrong).toEqual([expect.stringContaining(`the settings reserve 142 instances of the ${quota} that`)])
      expect(adviceOf('concurrency')).toContain(`Deploy with \`-c ${fitting}\``)
      expect(adviceOf('concurrency')).toContain(
        'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1000 --region eu-central-1',
      )
      const given = Object.fromEntries(fitting.split(' -c ').map((each) => each.split('=')))
      expect((await look(given)).wrong).toEqual([])
    },
  )

  it('is content with the reservations of prod in an account that runs 242 functions at once', async () => {
    haveConcurrency(242)
    expect(await look()).toMatchObject({ wrong: [], warnings: [] })
  })

  it('warns of a new account, which can reserve nothing', async () => {
    haveConcurrency(10)
    const { wrong, warnings } = await look({ pipelineReservedConcurrency: '0' })
    expect(wrong).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('concurrency: the account runs 10 functions at once')])
  })

  it('warns of a prod stage without reservations, and prints those that fit', async () => {
    const { warnings, adviceOf } = await look({ pipelineReservedConcurrency: '0' })
    expect(warnings).toEqual([expect.stringContaining('chats can take all of the 1000 instances')])
    expect(adviceOf('concurrency')).toContain('-c pipelineReservedConcurrency=20`')
  })

  it('asks for a quota with room for reservations that do not fit and for those of others', async () => {
    haveConcurrency(1000, 500)
    const { adviceOf } = await look({ pipelineReservedConcurrency: '100' })
    expect(adviceOf('concurrency')).toContain('-c pipelineReservedConcurrency=20`, or first ask for more')
    const [, desired] = /--desired-value (\d+)/.exec(adviceOf('concurrency') ?? '') ?? []
    lambda.on(GetAccountSettingsCommand).resolves({
      AccountLimit: { ConcurrentExecutions: Number(desired), UnreservedConcurrentExecutions: Number(desired) - 500 },
    })
    expect((await look({ pipelineReservedConcurrency: '100' })).wrong).toEqual([])
  })
})

it('counts the instances that the stack reserves', () => {
  const settings = stageSettings(EVERY_SETTING)
  const functions = resourcesOf(Template.fromStack(createStack({ settings })), 'AWS::Lambda::Function')
  const reserved = functions.map(({ properties }) => [
    folderOf(properties),
    properties.ReservedConcurrentExecutions ?? 0,
  ])
  expect(reservedInstances(settings)).toBe(reserved.reduce((sum, [, count]) => sum + count, 0))
})
