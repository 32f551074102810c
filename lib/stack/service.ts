import { Annotations, Aspects, CfnOutput, Stack } from 'aws-cdk-lib'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { AllowedOrigins } from '#core/api/cross-origin.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { FunctionEnvironment } from '../config/function-variables.ts'
import { CONFIGURATION_METADATA } from '../config/load-gateway-config.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { AdminApi } from './admin-api.ts'
import { alarmDefinitions, type WatchedService } from './alarm-definitions.ts'
import { VideoBucket } from './buckets.ts'
import { FrontDoor } from './front-door.ts'
import { REPOSITORY_ROOT, writeConfigurationFile } from './function-sources.ts'
import { GatewayApi } from './gateway-api.ts'
import { refuseLargeEnvironments } from './gateway-function.ts'
import { JobTable } from './job-table.ts'
import { LogLifetime } from './logs.ts'
import { ReconcileSchedule } from './reconcile-schedule.ts'
import { RelayWebFunction } from './relay-web-function.ts'
import { ChannelSecret, FrontDoorSecret } from './secrets.ts'
import { createAlarms } from './service-alarms.ts'
import { createDashboard } from './service-dashboard.ts'
import type { ServiceResources } from './service-resources.ts'
import {
  BroughtSigningKeys,
  bucketDelivery,
  CdnSigningKey,
  cdnDelivery,
  VideoCdn,
  type VideoDelivery,
} from './video-delivery.ts'
import { VideoPipeline } from './video-pipeline.ts'
import { WebAcl } from './web-acl.ts'

/** The settings of the stage and the configuration of the functions. */
export type ServiceProps = {
  readonly settings: StageSettings
  readonly config: GatewayConfig
  /** Omissions of the configuration's loader, shown at synth. */
  readonly warnings: readonly string[]
  /** Address of an emulator, which serves the API below this address, without a custom domain. */
  readonly emulatorEndpoint?: string
  /** Additional variables of every function: endpoints that an emulator does not set itself. */
  readonly functionEnvironment?: FunctionEnvironment
  /** Folder of the built console; undefined for commands that deploy nothing. */
  readonly consoleFolder?: string
  /** Directory that holds `lambdas/`; the checkout by default. Tests replace it. */
  readonly root?: string
}

/** The whole service: composes constructs and defines no resources itself. A stack holds one. */
export class Service extends Construct {
  /** Where clients find the API, with a slash at the end. */
  readonly baseUrl: string
  /** The front door, without a slash at the end; undefined without the console. */
  readonly url: string | undefined
  readonly tableName: string
  readonly bucket: IBucket
  /** Gets alarms and the alerts of tenants; undefined for a stage without alarms. */
  readonly alarmTopic: ITopic | undefined

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id)
    const { settings } = props
    this.#report(props)
    const { templateOptions } = Stack.of(this)
    templateOptions.metadata = { ...templateOptions.metadata, [CONFIGURATION_METADATA]: JSON.stringify(props.config) }
    // An app of one's own may protect its stack without the setting.
    Stack.of(this).terminationProtection ||= settings.isProtected
    const { retainsData: outlivesStack, logRetentionDays: retentionDays } = settings
    Aspects.of(this).add(new LogLifetime({ retentionDays, outlivesStack }))
    refuseLargeEnvironments(this)
    const corsOrigins = props.config.cors.origins
    const resources = this.#createResources(props)
    const reservedConcurrency = settings.concurrency.pipelineReserved
    const pipeline = new VideoPipeline(this, 'VideoPipeline', { resources, reservedConcurrency })
    const api = new GatewayApi(this, 'GatewayApi', { resources, pipeline, settings, corsOrigins })
    const { frontDoor } = resources
    const { oidc } = props.config.console
    const adminApi = frontDoor && new AdminApi(api, 'AdminApi', { resources, pipeline, oidc })
    const relay = this.#createRelay(settings, resources, corsOrigins)
    if (frontDoor !== undefined) {
      new FrontDoor(this, 'FrontDoor', { ...frontDoor, sources: resources.sources, api, relay, settings })
    }
    if (settings.waf !== undefined) {
      const { stageArn } = api.restApi.deploymentStage
      const accepted = frontDoor?.secret.accepted ?? []
      new WebAcl(this, 'WebAcl', {
        stageArn,
        isOpenToBrowsers: corsOrigins.length > 0,
        frontDoor: settings.frontDoor && { ...settings.frontDoor, accepted },
        ...settings.waf,
      })
    }
    const reconcile = new ReconcileSchedule(this, 'ReconcileSchedule', {
      resources,
      pipeline,
      reservedConcurrency: settings.concurrency.reconcileReserved,
    })
    const distribution = frontDoor?.distribution
    const service = { api, pipeline, reconcile, table: resources.table, adminApi, distribution, relay }
    const alarms = this.#createAlarms(props, service)
    // Emulators do not draw graphs.
    if (!settings.emulator) {
      createDashboard(new Construct(this, 'ServiceDashboard'), service)
    }
    this.baseUrl = props.emulatorEndpoint === undefined ? api.baseUrl : api.baseUrlBelow(props.emulatorEndpoint)
    this.url = frontDoor?.url
    this.tableName = resources.table.name
    this.bucket = resources.bucket.bucket
    this.alarmTopic = alarms?.topic
    this.#tell({
      BaseUrl: this.baseUrl,
      ApiDnsRecord: api.dnsRecord,
      TableName: this.tableName,
      ConsoleUrl: this.url && `${this.url}/console`,
      FrontDoorDistributionId: distribution?.distributionId,
      FrontDoorSecretArn: frontDoor?.secret.secretArn,
      RelayFunctionName: relay?.functionName,
      VideoBaseUrl: resources.delivery.baseUrl,
      VideoDnsRecord: resources.delivery.dnsRecord,
      ChannelSecretArn: resources.channelSecret.secret.secretArn,
      CdnSigningKeySecretArn: resources.delivery.signingKeys?.secret.secretArn,
      CdnSigningKeyFunctionName: resources.delivery.signingKeys?.functionName,
      AlarmTopicArn: alarms?.topic.topicArn,
      RollbackOptions: alarms?.rollbackOptions,
      BucketName: this.bucket.bucketName,
      DeadLetterQueueUrl: reconcile.deadLetters.queueUrl,
      ReconcileScheduleName: reconcile.scheduleName,
    })
  }

  /** The alarms, whose topic gets the alerts of Reconcile too; undefined for a stage without alarms. */
  #createAlarms({ settings, config }: ServiceProps, watched: WatchedService) {
    if (!settings.alarms) {
      return undefined
    }
    const scope = new Construct(this, 'ServiceAlarms')
    const alarms = createAlarms(scope, { records: alarmDefinitions(config), watched, email: settings.alarmEmail })
    watched.reconcile.publishAlertsTo(alarms.topic)
    return alarms
  }

  /** The Web Function of relayed requests, where the stage has one. */
  #createRelay(settings: StageSettings, resources: ServiceResources, corsOrigins: AllowedOrigins) {
    const secret = resources.frontDoor?.secret
    return settings.relay === 'web' && secret !== undefined
      ? new RelayWebFunction(this, 'Relay', { resources, settings, secret, corsOrigins })
      : undefined
  }

  /** Adds the outputs by which commands find the deployed service, without those that the stage lacks. */
  #tell(outputs: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(outputs)) {
      if (value !== undefined) {
        new CfnOutput(this, name, { value }).overrideLogicalId(name)
      }
    }
  }

  #report({ warnings }: ServiceProps): void {
    for (const [index, warning] of warnings.entries()) {
      Annotations.of(this).addWarningV2(`reelgate:configuration-${index}`, warning)
    }
  }

  #createResources(props: ServiceProps): ServiceResources {
    const { config, settings, functionEnvironment = {}, consoleFolder, root = REPOSITORY_ROOT } = props
    const sources = { root, configurationFile: writeConfigurationFile(this, config), consoleFolder }
    const { retainsData: outlivesStack, isProtected } = settings
    // Emulators discard their data themselves.
    const isEmptiedAtEnd = !(outlivesStack || settings.emulator)
    const bucket = new VideoBucket(this, 'VideoBucket', {
      outlivesStack,
      isEmptiedAtEnd,
      corsOrigins: config.cors.origins,
    })
    const delivery = settings.hasCdn ? this.#createCdn(props, { sources, bucket }) : bucketDelivery(bucket)
    return {
      sources,
      bucket,
      table: new JobTable(this, 'JobTable', { outlivesStack, isProtected, existing: settings.table }),
      delivery,
      frontDoor: this.#prepareFrontDoor(settings, delivery),
      channelSecret: new ChannelSecret(this, 'ChannelSecret', { outlivesStack }),
      channels: config.channels,
      takesTokens: config.identity.issuers.length > 0,
      environment: functionEnvironment,
    }
  }

  /** The front door stands in the CDN of the videos; functions know it before its paths are added. */
  #prepareFrontDoor(
    { frontDoor }: StageSettings,
    { distribution, baseUrl }: VideoDelivery,
  ): ServiceResources['frontDoor'] {
    if (frontDoor === undefined || distribution === undefined || baseUrl === undefined) {
      return undefined
    }
    const { secretVersion: version } = frontDoor
    return { distribution, url: baseUrl, secret: new FrontDoorSecret(this, 'FrontDoorSecret', { version }) }
  }

  #createCdn(
    { settings, config }: ServiceProps,
    { sources, bucket }: Pick<ServiceResources, 'sources' | 'bucket'>,
  ): VideoDelivery {
    const { cdnPublicKeyPems, videoDomain: customDomain, frontDoor } = settings
    const signingKeys =
      cdnPublicKeyPems.length === 0
        ? new CdnSigningKey(this, 'CdnSigningKey', sources)
        : new BroughtSigningKeys(this, 'CdnSigningKey', cdnPublicKeyPems)
    const { keyGroup } = signingKeys
    const isOpenToBrowsers = config.cors.origins.length > 0
    const cdn = new VideoCdn(this, 'VideoCdn', {
      bucket: bucket.bucket,
      keyGroup,
      customDomain,
      isOpenToBrowsers,
      isFrontDoor: frontDoor !== undefined,
    })
    return cdnDelivery(cdn, signingKeys)
  }
}
