import { join } from 'node:path'
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation'
import * as z from 'zod'
import { type GatewayConfig, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { readState } from '#local/data-directory.ts'
import { CONFIGURATION_METADATA } from '../../config/load-gateway-config.ts'
import { stackName } from '../../config/platform-facts.ts'
import { DeploymentNotFoundError, unreadableStack } from '../failures.ts'
import type { AdminContext } from './command.ts'

const template = z.object({
  Metadata: z.object({ [CONFIGURATION_METADATA]: z.string().transform(parseJson).pipe(gatewayConfigSchema) }),
})

/**
 * The configuration in use: from the template of a deployed stage, or from the data directory of a running local host, which has the
 * addresses of its simulators.
 * @throws DeploymentNotFoundError if there is none, or this version cannot read it.
 */
export async function readDeployedConfig(context: Pick<AdminContext, 'local' | 'stage' | 'dataDirectory' | 'output'>) {
  return context.local ? await readLocalConfig(context) : await readTemplateConfig(stackName(context.stage))
}

async function readLocalConfig({
  output,
  dataDirectory,
}: Pick<AdminContext, 'output' | 'dataDirectory'>): Promise<GatewayConfig> {
  await output('BaseUrl')
  const config = readState(join(dataDirectory, 'gateway.json'), gatewayConfigSchema)
  if (config === undefined) {
    throw new DeploymentNotFoundError(`the local host over ${dataDirectory} has no configuration there`)
  }
  return config
}

async function readTemplateConfig(name: string): Promise<GatewayConfig> {
  const parsed = template.safeParse(parseJson(await readTemplate(name)))
  if (!parsed.success) {
    throw new DeploymentNotFoundError(
      `the template of ${name} has no configuration that this version can read: deploy once with this version`,
      { cause: parsed.error },
    )
  }
  return parsed.data.Metadata[CONFIGURATION_METADATA]
}

async function readTemplate(name: string): Promise<string> {
  try {
    const { TemplateBody = '' } = await new CloudFormationClient({}).send(new GetTemplateCommand({ StackName: name }))
    return TemplateBody
  } catch (error) {
    throw unreadableStack(`the template of ${name}`, error)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
