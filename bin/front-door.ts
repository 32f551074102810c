import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { FrontDoorStack } from '#stack/front-door-stack.ts'
import { refuseUnknownContext, StageSettingsError } from '../lib/config/context-settings.ts'
import { readStageSettings } from '../lib/config/stage-settings.ts'
import { printFailure } from './print-failure.ts'

/** `npx cdk deploy --app "node bin/front-door.ts"`: what a stage's front door has in us-east-1. */
function main(): void {
  const app = new App()
  refuseUnknownContext(Object.keys(app.node.getAllContext()))
  const settings = readStageSettings((name) => app.node.tryGetContext(name))
  if (!settings.hasCdn) {
    throw new StageSettingsError('the setting cdn=off leaves out the front door, and so its stack in us-east-1')
  }
  new FrontDoorStack(app, { settings, account: process.env.CDK_DEFAULT_ACCOUNT })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
}

try {
  main()
} catch (error) {
  printFailure(error)
}
