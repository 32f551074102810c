import { join } from 'node:path'
import { Stack, Token } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { Service } from '#stack/service.ts'
import { type ContextValues, refuseUnknownContext } from '../config/context-settings.ts'
import { readStage } from '../config/stage-settings.ts'

/** The settings of docs/deploy.md, under the names that `cdk deploy -c` takes. Paths are relative to the working directory. */
export type ReelgateProps = Partial<ContextValues> & Pick<ContextValues, 'config'>

/**
 * The gateway as a construct of another app. One of them fits into a stack.
 * @throws StageSettingsError for the first invalid setting, GatewayConfigError for an invalid configuration.
 */
export class Reelgate extends Service {
  constructor(scope: Construct, id: string, props: ReelgateProps) {
    refuseUnknownContext(Object.keys(props))
    const stack = Stack.of(scope)
    const region = Token.isUnresolved(stack.region) ? undefined : stack.region
    const given = new Map<string, unknown>(Object.entries(props))
    const stage = readStage((name) => given.get(name), { region, isToBeDeployed: stack.bundlingRequired })
    super(scope, id, {
      ...stage,
      warnings: [...stage.warnings, ...stage.remarks],
      ...(stage.settings.frontDoor === undefined ? {} : { consoleFolder: join(REPOSITORY_ROOT, 'console') }),
    })
  }
}
