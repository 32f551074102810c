import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, jest } from '@jest/globals'
import { Annotations, Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { pollGrace } from '#core/jobs/waits.ts'
import { CHECK_MILLISECONDS_MAX } from '#lambdas/pipeline/check-references/check-references.ts'
import { RUN_MILLISECONDS_MAX } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { OVERDUE_SECONDS } from '#lambdas/pipeline/reconcile/reconcile-job.ts'
import { GIVE_UP_SECONDS, TRANSFER_MILLISECONDS_MAX } from '#lambdas/pipeline/store-video/store-video.ts'
import { CLAIM_IN_FLIGHT_SECONDS, OFFERING_SECONDS_MAX } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { KEEP_ALIVE_MILLISECONDS } from '#lambdas/relay/client-response.ts'
import { ABANDONED_MILLISECONDS_MAX } from '#lambdas/relay/read-reply.ts'
import { REQUEST_MILLISECONDS_MAX } from '#lambdas/relay/run-request.ts'
import { SETTLING_MILLISECONDS_MAX } from '#lambdas/relay-server/start-relay-server.ts'
import { REQUESTS_END_MILLISECONDS_MAX } from '#local/local-host.ts'
import { PATIENCE_MILLISECONDS_MAX, RESPONSE_TIMEOUT_MILLISECONDS } from '#platform/aws/custom-resource.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { LEFT_AFTER_MILLISECONDS } from '#store/job-ledger/reservation.ts'
import { RELAY_LIFETIME_MILLISECONDS } from '#store/relay-ledger/relay-reservation.ts'
import { CANCEL_LIMITS, POLL_LIMITS, SUBMIT_LIMITS } from '#upstream/providers/upstream-http.ts'
import { CALLBACK_TOTAL_MILLISECONDS } from '#upstream/send-callback.ts'
import { configJsonSchema } from '../../lib/config/load-gateway-config.ts'
import { p2Channel } from '../upstream/providers/provider-samples.ts'
import { EVERY_SETTING } from './every-setting.ts'
import {
  createApp,
  createStack,
  folderOf,
  relayResource,
  resourcesOf,
  shippedConfiguration,
  stageSettings,
  synthesizeRelay,
  synthesizeStack,
} from './synthesize-stack.ts'

const stack = createStack()
const template = Template.fromStack(stack)

describe('ReelgateStack', () => {
  it('passes every AwsSolutions rule or gives a reason', () => {
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  })

  it('gives a reason for every accepted finding', () => {
    const acknowledged = stack.node
      .findAll()
      .flatMap((construct) => construct.node.metadata)
      .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
      .flatMap(({ data }) => Object.entries<string>(data))
    expect(acknowledged.length).toBeGreaterThan(0)
    for (const [, reason] of acknowledged) {
      expect(reason).toMatch(/\w+ \w+ \w+.*\.$/)
    }
  })

  it('passes the rules that CDK itself checks at synth', () => {
    const app = createApp({ builtinCloudFormationValidation: true })
    createStack({}, app)
    expect(() => app.synth()).not.toThrow()
  })

  it('shows the omissions of the configuration', () => {
    const report = jest.spyOn(console, 'error').mockImplementation(() => {})
    const warned = createStack({ warnings: ['channel p2-proxy has no upstream'] })
    Annotations.fromStack(warned).hasWarning('*', 'channel p2-proxy has no upstream [ack: reelgate:configuration-0]')
    report.mockRestore()
  })

  it('generates the signing keys in the account, and the template contains none', () => {
    expect(resourcesOf(template, 'Custom::CdnKeyGroup')).toHaveLength(1)
    expect(JSON.stringify(template)).not.toContain('-----BEGIN')
  })

  it('deploys secrets empty', () => {
    for (const { properties } of resourcesOf(template, 'AWS::SecretsManager::Secret')) {
      expect(properties.SecretString).toBe('{}')
    }
  })

  it('outputs the addresses of the service and of its data', () => {
    expect(Object.keys(template.toJSON().Outputs).sort()).toEqual([
      'AlarmTopicArn',
      'BaseUrl',
      'BucketName',
      'CdnSigningKeyFunctionName',
      'CdnSigningKeySecretArn',
      'ChannelSecretArn',
      'DeadLetterQueueUrl',
      'ReconcileScheduleName',
      'RollbackOptions',
      'TableName',
      'VideoBaseUrl',
    ])
  })

  it.each([
    ['BucketName', 'AWS::S3::Bucket'],
    ['DeadLetterQueueUrl', 'AWS::SQS::Queue'],
    ['ReconcileScheduleName', 'AWS::Scheduler::Schedule'],
  ])('outputs its own resource as %s', (output, type) => {
    const [made, ...others] = resourcesOf(template, type)
    expect(others).toEqual([])
    expect(template.toJSON().Outputs[output].Value).toEqual({ Ref: made?.id })
  })
})

describe('reelgate stack resources', () => {
  const { config } = shippedConfiguration
  const open = { ...config, cors: { origins: ['https://app.example.com'] } }
  const { cdnPublicKey: _brought, ...ownKeys } = EVERY_SETTING

  const countOf = (template: Template) => Object.keys(template.toJSON().Resources).length

  // A route with a function of its own adds seven or eight. Raise a limit for routes that are wanted, but keep what operators add below 500.
  it.each([
    ['production', 320, stageSettings({ console: 'on' }), config],
    ['everything with keys of its own', 390, stageSettings(ownKeys), open],
    ['everything with keys of the team', 390, stageSettings(EVERY_SETTING), open],
  ])(
    'ReelgateStack: %s has at most %i resources of the 500 that CloudFormation takes',
    (_, most, settings, configuration) => {
      expect(countOf(synthesizeStack({ settings, config: configuration }))).toBeLessThanOrEqual(most)
    },
  )
})

describe('ReelgateStack: the time limit', () => {
  const template = synthesizeStack()
  const read = (file: string) => readFileSync(join(REPOSITORY_ROOT, file), 'utf8')
  const definition = JSON.parse(read('lambdas/pipeline/video-job.asl.json'))
  const configuration = JSON.parse(configJsonSchema())

  /** Seconds after which Lambda ends a function of the stack. */
  function functionSeconds(folder: string): number {
    const found = resourcesOf(template, 'AWS::Lambda::Function').find(
      ({ properties }) => folderOf(properties) === folder,
    )
    return Number(found?.properties.Timeout)
  }

  const MARGIN_SECONDS = 5

  it('of a submit ends within its function, even after attempts on other channels', () => {
    const submit = SUBMIT_LIMITS.totalMilliseconds / 1000
    const offering = OFFERING_SECONDS_MAX
    expect(offering + submit + MARGIN_SECONDS).toBeLessThanOrEqual(functionSeconds('pipeline/submit-video-job'))
  })

  it('of a claim lasts longer than the function that may hold it', () => {
    const claim = CLAIM_IN_FLIGHT_SECONDS
    expect(claim).toBeGreaterThan(functionSeconds('pipeline/submit-video-job'))
  })

  it('of a poll and the requests around a cancellation end within their function', () => {
    const all = 2 * POLL_LIMITS.totalMilliseconds + CANCEL_LIMITS.totalMilliseconds
    expect(all / 1000 + MARGIN_SECONDS).toBeLessThanOrEqual(functionSeconds('pipeline/poll-video-job'))
  })

  it('of a reference check, a transfer, a callback, a run of Reconcile and a waiting create end within their functions', () => {
    const inner = {
      'pipeline/store-video': TRANSFER_MILLISECONDS_MAX / 1000,
      'pipeline/check-references': CHECK_MILLISECONDS_MAX / 1000,
      'pipeline/notify': CALLBACK_TOTAL_MILLISECONDS / 1000,
      'pipeline/reconcile': RUN_MILLISECONDS_MAX / 1000,
      'api/create-video-job': configuration.properties.submit_wait_seconds.maximum,
    }
    for (const [folder, limit] of Object.entries(inner)) {
      const room = functionSeconds(folder) - limit
      expect({ folder, isInside: room >= 4 }).toEqual({ folder, isInside: true })
    }
  })

  it('of an execution covers the longest configurable queue, generation and store', () => {
    const [channel] = configuration.properties.channels.items.anyOf ?? configuration.properties.channels.items.oneOf
    const minutes = configuration.properties.queue_minutes.maximum + channel.properties.deadline_minutes.maximum
    const storing = GIVE_UP_SECONDS
    const crowded: VideoChannel = { ...p2Channel('http://127.0.0.1:9', 'direct'), poll: { requests_per_second: 0.001 } }
    const grace = pollGrace(crowded, 1_000_000)
    expect(definition.TimeoutSeconds).toBeGreaterThan(minutes * 60 + grace + storing)
    expect(definition.TimeoutSeconds).toBeLessThanOrEqual(OVERDUE_SECONDS)
  })

  it('of a silent relay ends before API Gateway’s idle timeout of five minutes', () => {
    const apiGateway = 300
    const silence = configuration.properties.answer_seconds.maximum
    const keepAlive = KEEP_ALIVE_MILLISECONDS / 1000
    expect(silence + MARGIN_SECONDS).toBeLessThan(apiGateway)
    expect(keepAlive).toBeLessThan(silence)
  })

  it('of a relayed request ends on every host before its platform ends it, and before Reconcile releases its reservation', () => {
    const request = REQUEST_MILLISECONDS_MAX / 1000
    const reading = ABANDONED_MILLISECONDS_MAX / 1000
    const settling = LEFT_AFTER_MILLISECONDS / 1000
    const revision = relayResource(synthesizeRelay(), 'AWS::Lambda::WebFunctionRevision').properties
    const platforms = [revision.ServiceConfig.TimeoutSeconds, functionSeconds('api/create-chat-completion')]
    expect(request + reading + settling).toBeLessThan(Math.min(...platforms))
    expect(Math.max(...platforms)).toBeLessThan(RELAY_LIFETIME_MILLISECONDS / 1000)
  })

  it('of what a stopped process settles ends before Lambda ends the process, one second after SIGTERM', () => {
    expect(SETTLING_MILLISECONDS_MAX / 1000).toBeLessThanOrEqual(0.5)
  })

  it('of settling after a client disconnects ends within the wait of a local shutdown', () => {
    const reading = ABANDONED_MILLISECONDS_MAX / 1000
    const shutdown = REQUESTS_END_MILLISECONDS_MAX / 1000
    expect(reading + MARGIN_SECONDS).toBeLessThan(shutdown)
  })

  it('of retries for new permissions ends within the function, whose retries end within CloudFormation’s timeout', () => {
    const patience = PATIENCE_MILLISECONDS_MAX / 1000
    const answer = RESPONSE_TIMEOUT_MILLISECONDS / 1000
    const once = functionSeconds('cdn-signing-key')
    expect(patience + answer + MARGIN_SECONDS).toBeLessThanOrEqual(once)
    // Lambda runs an event that failed twice more, after one minute and after two.
    const [group] = resourcesOf(template, 'Custom::CdnKeyGroup')
    expect(3 * once + 60 + 120).toBeLessThan(Number(group?.properties.ServiceTimeout))
  })

  it('of API Gateway equals that of its functions, the maximum of its integrations', () => {
    const waits = resourcesOf(template, 'AWS::ApiGateway::Method').map(({ properties }) => properties.Integration)
    const secondsOf = (mode: string | undefined) =>
      new Set(
        waits.flatMap(({ ResponseTransferMode, TimeoutInMillis }) =>
          ResponseTransferMode === mode ? [TimeoutInMillis / 1000] : [],
        ),
      )
    expect(secondsOf(undefined)).toEqual(new Set([functionSeconds('api/create-video-job')]))
    expect(secondsOf('STREAM')).toEqual(new Set([functionSeconds('api/create-chat-completion')]))
  })
})
