import type { IResource } from 'aws-cdk-lib/aws-apigateway'
import { Grant } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { ADMIN_ROUTES, type AdminFunction } from '#core/admin/routes.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { ADMIN_NEEDS } from './function-needs.ts'
import { type GatewayApi, wholeIntegration } from './gateway-api.ts'
import type { GatewayFunction } from './gateway-function.ts'
import { createFunction, type ServiceResources } from './service-resources.ts'
import type { VideoPipeline } from './video-pipeline.ts'

/** What all paths of the admin API begin with. */
const BELOW = '/admin/v1/'

type AdminApiProps = {
  readonly resources: ServiceResources
  readonly pipeline: VideoPipeline
  /** The OpenID provider of the console; undefined without one. */
  readonly oidc: GatewayConfig['console']['oidc']
}

/**
 * The admin API of the console: three functions behind few resources, because a template holds 500. Each function finds its operation
 * itself. It stands below the API, so that the alarms and the dashboard of the API cover its functions.
 */
export class AdminApi extends Construct {
  constructor(api: GatewayApi, id: string, { resources, pipeline, oidc }: AdminApiProps) {
    super(api, id)
    const create = (functionId: string, name: AdminFunction) =>
      createFunction(this, functionId, resources, { folder: `admin-api/${name}`, needs: ADMIN_NEEDS[name] })
    const [signIn, read, write] = [create('SignIn', 'sign-in'), create('Read', 'read'), create('Write', 'write')]
    // Errors and latency of channels. CloudWatch has no resources to name in a policy.
    Grant.addToPrincipal({ grantee: read, actions: ['cloudwatch:GetMetricData'], resourceArns: ['*'] })
    if (oidc !== undefined) {
      signIn.setEnvironment({ CONSOLE_OIDC: JSON.stringify(oidc) })
    }
    // Shows owners whether a redrive would help.
    pipeline.grantDescribe(read)
    read.setEnvironment({ STATE_MACHINE_ARN: pipeline.stateMachine.stateMachineArn })
    // Redrives and cancels jobs.
    pipeline.grantStart(write)
    pipeline.grantDescribe(write)
    this.#route(api.restApi.root.addResource('admin').addResource('v1'), { signIn, read, write })
  }

  /** Everything about sessions goes to one function; of all else, what only shows goes to another than what changes. */
  #route(v1: IResource, functions: Readonly<Record<'signIn' | 'read' | 'write', GatewayFunction>>): void {
    const signIn = wholeIntegration(functions.signIn)
    for (const segment of signInSegments()) {
      const resource = v1.addResource(segment)
      resource.addMethod('ANY', signIn)
      resource.addResource('{proxy+}').addMethod('ANY', signIn)
    }
    const others = v1.addResource('{proxy+}')
    others.addMethod('GET', wholeIntegration(functions.read))
    others.addMethod('ANY', wholeIntegration(functions.write))
  }
}

/** The first segments of the paths that belong to the function of sign-ins, such as `session`. */
function signInSegments(): readonly string[] {
  const paths = ADMIN_ROUTES.filter((route) => route.function === 'sign-in').map(({ path }) => path)
  return [...new Set(paths.map((path) => path.slice(BELOW.length).split('/')[0] ?? ''))]
}
