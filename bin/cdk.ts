import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { ReelgateStack } from '#aws/reelgate-stack.ts'
import { loadGatewayConfig } from '../lib/config/load-gateway-config.ts'

const app = new App()
const stage: string = app.node.tryGetContext('stage') ?? 'dev'
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION, AWS_REGION } = process.env
const region = CDK_DEFAULT_REGION ?? AWS_REGION

try {
  const file: string = app.node.tryGetContext('config') ?? 'config/gateway.yaml'
  const domainName: string | undefined = app.node.tryGetContext('videoDomain')
  const certificateArn: string | undefined = app.node.tryGetContext('videoCertificateArn')
  const responseStreaming = String(app.node.tryGetContext('responseStreaming') ?? true) !== 'false'
  new ReelgateStack(app, `Reelgate-${stage}`, {
    ...loadGatewayConfig({ file, environment: process.env, mode: 'synth' }),
    stage,
    responseStreaming,
    ...(account && region ? { env: { account, region } } : {}),
    ...(domainName && certificateArn ? { videoDomain: { domainName, certificateArn } } : {}),
  })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
