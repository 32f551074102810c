import { Annotations, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { CdnSigningKey } from './cdn-signing-key.ts'
import { ChannelSecret } from './channel-secret.ts'
import { REPOSITORY_ROOT, writeConfigurationFile } from './function-sources.ts'
import { GatewayApi } from './gateway-api.ts'
import { JobTable } from './job-table.ts'
import { ReconcileSchedule } from './reconcile-schedule.ts'
import { ServiceAlarms } from './service-alarms.ts'
import type { ServiceResources } from './service-resources.ts'
import { VideoBucket } from './video-bucket.ts'
import { type CustomDomain, VideoCdn } from './video-cdn.ts'
import { VideoPipeline } from './video-pipeline.ts'

/** The stage that clients depend on: it must have an upstream. */
const PRODUCTION_STAGE = 'prod'

export type ReelgateStackProps = StackProps & {
  readonly stage: string
  readonly config: GatewayConfig
  /** What the configuration's loader left out, shown at synth. */
  readonly warnings: readonly string[]
  readonly videoDomain?: CustomDomain
  /** False where API Gateway cannot stream answers, as in emulators: relayed answers end after 29 seconds or 6 MB there. */
  readonly responseStreaming?: boolean
  /** Where `lambdas/` is; the checkout unless a test says otherwise. */
  readonly root?: string
}

/** The whole service; composes, and has no resources of its own. */
export class ReelgateStack extends Stack {
  constructor(scope: Construct, id: string, props: ReelgateStackProps) {
    super(scope, id, { description: 'Reelgate: HTTP/JSON gateway in front of AI video providers', ...props })
    this.#report(props)
    const resources = this.#createResources(props)
    const pipeline = new VideoPipeline(this, 'VideoPipeline', resources)
    const { responseStreaming = true } = props
    const api = new GatewayApi(this, 'GatewayApi', { resources, pipeline, responseStreaming })
    const reconcile = new ReconcileSchedule(this, 'ReconcileSchedule', { resources, pipeline })
    const alarms = new ServiceAlarms(this, 'ServiceAlarms', { api, pipeline, reconcile })
    const outputs = {
      BaseUrl: api.restApi.url,
      TableName: resources.table.name,
      VideoBaseUrl: resources.cdn.baseUrl,
      ChannelSecretArn: resources.channelSecret.secret.secretArn,
      AlarmTopicArn: alarms.topic.topicArn,
    }
    for (const [name, value] of Object.entries(outputs)) {
      new CfnOutput(this, name, { value })
    }
  }

  #report({ stage, config, warnings }: ReelgateStackProps): void {
    for (const [index, warning] of warnings.entries()) {
      Annotations.of(this).addWarningV2(`reelgate:configuration-${index}`, warning)
    }
    if (stage === PRODUCTION_STAGE && config.channels.length === 0) {
      Annotations.of(this).addError(`the stage ${stage} has no channel: set the base urls of its upstreams`)
    }
  }

  #createResources({ config, videoDomain, root = REPOSITORY_ROOT }: ReelgateStackProps): ServiceResources {
    const sources = { root, configurationFile: writeConfigurationFile(this, config) }
    const signingKey = new CdnSigningKey(this, 'CdnSigningKey', sources)
    const bucket = new VideoBucket(this, 'VideoBucket')
    return {
      sources,
      signingKey,
      bucket,
      table: new JobTable(this, 'JobTable'),
      cdn: new VideoCdn(this, 'VideoCdn', {
        bucket: bucket.bucket,
        publicKeyPem: signingKey.publicKeyPem,
        customDomain: videoDomain,
      }),
      channelSecret: new ChannelSecret(this, 'ChannelSecret'),
    }
  }
}
