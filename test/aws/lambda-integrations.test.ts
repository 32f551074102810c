import { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { describe, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { streamedIntegration, wholeIntegration } from '#stack/gateway-api.ts'
import { GatewayFunction } from '#stack/gateway-function.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

const template = synthesizeAlone((stack) => {
  const handler = new GatewayFunction(stack, 'Handler', {
    sources: { root: REPOSITORY_ROOT, configurationFile: 'gateway.json' },
    folder: 'api/get-health',
    timeoutSeconds: 29,
    memoryMegabytes: 128,
    files: [],
  })
  const api = new RestApi(stack, 'Api')
  const whole = wholeIntegration(handler)
  api.root.addMethod('GET', whole)
  api.root.addMethod('ANY', whole)
  api.root.addResource('streamed').addMethod('GET', streamedIntegration(handler))
})
const integrations = resourcesOf(template, 'AWS::ApiGateway::Method').map(({ properties }) => properties.Integration)

describe('lambda-integrations', () => {
  it('wait for a whole response as long as its function may run, and for a streamed one 15 minutes', () => {
    const seconds = integrations.map(({ TimeoutInMillis }) => TimeoutInMillis / 1_000)
    expect(seconds.sort((left, right) => left - right)).toEqual([29, 29, 900])
  })

  it('grant one permission to a function with many methods', () => {
    const sources = resourcesOf(template, 'AWS::Lambda::Permission').map(({ properties }) => JSON.stringify(properties))
    expect(sources.filter((source) => source.includes('/*/*'))).toHaveLength(1)
  })
})
