import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import type { Construct } from 'constructs'
import type { AllowedOrigins } from '#core/contract/cross-origin.ts'
import type { StageSettings } from '../config/stage-settings.ts'
import { API_NEEDS } from './function-needs.ts'
import type { GatewayFunction } from './gateway-function.ts'
import { wholeIntegration } from './lambda-integrations.ts'
import { childrenOf, isVariable, withDescendants } from './resource-tree.ts'
import { createFunction, type ServiceResources } from './service-resources.ts'

type ApiFallbackProps = {
  readonly restApi: RestApi
  readonly resources: ServiceResources
  readonly settings: StageSettings
  /** Origins whose scripts may call the API. */
  readonly corsOrigins: AllowedOrigins
}

/**
 * Handles undeclared methods of every resource, `OPTIONS` of browsers among them, and every unknown path. API Gateway takes the most
 * specific resource and does not document a return to the root's `{proxy+}`, so each level has its own, except levels with a path
 * parameter, which can have only one variable child. Called when every route is there.
 */
export function addApiFallback(
  scope: Construct,
  { restApi, resources, settings, corsOrigins }: ApiFallbackProps,
): void {
  const fallback = createFunction(scope, 'Fallback', resources, {
    folder: 'api/fallback',
    needs: API_NEEDS.fallback,
    reservedConcurrency: settings.concurrency.apiReserved,
  })
  allowOrigins(fallback, corsOrigins)
  const integration = wholeIntegration(fallback, 'whole-api')
  for (const resource of withDescendants(restApi.root)) {
    resource.addMethod('ANY', integration)
    if (!childrenOf(resource).some(isVariable)) {
      resource.addResource('{proxy+}').addMethod('ANY', integration)
    }
  }
}

/** The handlers tell browsers, and the fallback responds to `OPTIONS`. */
export function allowOrigins(handler: GatewayFunction, origins: AllowedOrigins): void {
  if (origins.length > 0) {
    handler.setEnvironment({ CORS_ORIGINS: origins.join(' ') })
  }
}
