import { Duration } from 'aws-cdk-lib'
import { LambdaIntegration, ResponseTransferMode } from 'aws-cdk-lib/aws-apigateway'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/platform-facts.ts'
import type { GatewayFunction } from './gateway-function.ts'

/** Streams the response to the client. The timeout is explicit, because CDK's default is 29 seconds. */
export function streamedIntegration(handler: GatewayFunction): LambdaIntegration {
  return new LambdaIntegration(handler.function, {
    proxy: true,
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.relay),
    allowTestInvoke: false,
  })
}

/** A buffered response. One permission covers all methods of the function. */
export function wholeIntegration(handler: GatewayFunction): LambdaIntegration {
  return new LambdaIntegration(handler.function, {
    proxy: true,
    timeout: Duration.seconds(FUNCTION_TIMEOUT_SECONDS.api),
    scopePermissionToMethod: false,
  })
}
