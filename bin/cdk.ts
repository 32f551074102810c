import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { ReelgateStack } from '#aws/reelgate-stack.ts'
import { loadGatewayConfig } from '../lib/config/load-gateway-config.ts'
import { readStageSettings } from '../lib/config/stage-settings.ts'
import { refuseUnknownContext } from '../lib/config/unknown-context.ts'
import { emulatorStackProps } from '../lib/emulator/emulator-stack-props.ts'
import { printFailure } from './print-failure.ts'

const app = new App()
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION, AWS_REGION } = process.env
/** Without an account CDK names a region all the same, its own default. */
const region = CDK_DEFAULT_REGION ?? AWS_REGION

try {
  refuseUnknownContext(Object.keys(app.node.getAllContext()))
  const env = account && region ? { account, region } : undefined
  const settings = readStageSettings((name) => app.node.tryGetContext(name), env?.region)
  const loaded = loadGatewayConfig({ file: settings.configFile, environment: process.env, mode: 'synth' })
  new ReelgateStack(app, `Reelgate-${settings.stage}`, {
    ...loaded,
    ...(settings.emulator ? emulatorStackProps(loaded.config, process.env) : {}),
    settings,
    ...(env && { env }),
  })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
} catch (error) {
  printFailure(error)
}
