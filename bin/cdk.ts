import { App, Validations } from 'aws-cdk-lib'
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api'
import { AwsSolutionsChecks } from 'cdk-nag'
import { ReelgateStack } from '#stack/reelgate-stack.ts'
import { emulatorStackProps } from '../lib/cli/emulator.ts'
import { refuseUnknownContext } from '../lib/config/context-settings.ts'
import { configurationFile, OWN_CONFIGURATION_FILE } from '../lib/config/load-gateway-config.ts'
import { stackName } from '../lib/config/platform-facts.ts'
import { readStage, refuseUnsupportedRegion } from '../lib/config/stage-settings.ts'
import { buildConsole } from '../lib/console/build-console.ts'
import { printFailure } from './print-failure.ts'

const app = new App()
const { CDK_DEFAULT_ACCOUNT: account, CDK_DEFAULT_REGION, AWS_REGION } = process.env
/** Without an account, CDK still names a region: its default. */
const region = CDK_DEFAULT_REGION ?? AWS_REGION
/** `cdk destroy` and `cdk list` bundle nothing and work without the environment of a deployment. */
const isToBeDeployed = app.node.tryGetContext(BUNDLING_STACKS)?.length !== 0

/** Settings as given. Without a named configuration file, the operator's own file applies, if there is one. */
const contextOf = (name: string) =>
  app.node.tryGetContext(name) ?? (name === 'config' ? configurationFile() : undefined)

try {
  refuseUnknownContext(Object.keys(app.node.getAllContext()))
  const env = account && region ? { account, region } : undefined
  const { remarks, ...stage } = readStage(contextOf, { region: env?.region, isToBeDeployed })
  const { settings, config } = stage
  if (isToBeDeployed) {
    refuseUnsupportedRegion({ region, emulator: settings.emulator })
  }
  if (isToBeDeployed && settings.configFile === OWN_CONFIGURATION_FILE) {
    console.error(`configuration: ${settings.configFile}`)
  }
  const consoleFolder = isToBeDeployed && settings.frontDoor !== undefined ? await buildConsole() : undefined
  new ReelgateStack(app, stackName(settings.stage), {
    ...stage,
    ...(consoleFolder === undefined ? {} : { consoleFolder }),
    ...(settings.emulator ? emulatorStackProps(config, process.env) : {}),
    ...(env && { env }),
  })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  if (isToBeDeployed && remarks.length > 0) {
    // After the output of the bundling, so that the warnings are not lost in it.
    app.synth()
    console.error(`\n${remarks.join('\n\n')}\n`)
  }
} catch (error) {
  printFailure(error)
}
