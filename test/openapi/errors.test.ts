import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { addErrorResponses } from '#stack/gateway-error-responses.ts'
import { PLATFORM_REFUSALS, PLATFORM_STATUSES, PLATFORM_TEXT } from '../../lib/openapi/errors.ts'
import { resourcesOf, synthesizeAlone } from '../stack/synthesize-stack.ts'

/** What API Gateway sends where it knows the cause of its own refusal; the rest is a default for a class of statuses. */
const CLASSES = new Map([
  ['DEFAULT_5XX', 500],
  ['WAF_FILTERED', 403],
  ['REQUEST_TOO_LARGE', 413],
  ['INTEGRATION_TIMEOUT', 504],
  ['THROTTLED', 429],
])

function bodyByClass(): ReadonlyMap<string, unknown> {
  const template = synthesizeAlone((stack) => {
    const api = new RestApi(stack, 'Api')
    api.root.addMethod('GET')
    addErrorResponses(api, { isOpenToBrowsers: false })
  })
  const responses = resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')
  return new Map(
    responses.map(({ properties }) => [
      properties.ResponseType,
      JSON.parse(properties.ResponseTemplates['application/json']),
    ]),
  )
}

describe('what the document says that the platform refuses', () => {
  it('is, cause by cause, what the stack makes API Gateway answer', () => {
    const deployed = bodyByClass()
    const causes = Object.values(PLATFORM_REFUSALS)
    for (const [name, status] of CLASSES) {
      const said = causes.find(({ statuses }) => statuses.includes(status))
      expect([name, said?.value]).toEqual([name, deployed.get(name)])
    }
    expect(causes).toHaveLength(CLASSES.size)
  })

  it('is one list of statuses, in the document and the guide', () => {
    expect(PLATFORM_TEXT.match(/\b\d{3}\b/g)?.map(Number)).toEqual(PLATFORM_STATUSES)
    const guide = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
    expect(guide).toContain(PLATFORM_TEXT)
  })
})
