import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { awsEndpoint } from '#adapters/aws/aws-endpoint.ts'
import { MissingEnvironmentError } from '#adapters/environment.ts'

const NAMES = ['AWS_REGION', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_SECRETS_MANAGER']
const before = { ...process.env }
beforeEach(() => {
  for (const name of NAMES) {
    delete process.env[name]
  }
})
afterEach(() => {
  process.env = { ...before }
})

const originOf = (service: 'dynamodb' | 'secretsmanager', environment: Record<string, string>) => {
  Object.assign(process.env, environment)
  return awsEndpoint(service).url.origin
}

describe('the endpoint of a service', () => {
  it.each([
    ['dynamodb', 'eu-central-1', 'https://dynamodb.eu-central-1.amazonaws.com'],
    ['secretsmanager', 'us-gov-west-1', 'https://secretsmanager.us-gov-west-1.amazonaws.com'],
    ['dynamodb', 'cn-north-1', 'https://dynamodb.cn-north-1.amazonaws.com.cn'],
  ] as const)('of %s in %s is %s', (service, region, origin) => {
    expect(originOf(service, { AWS_REGION: region })).toBe(origin)
  })

  it('is what the environment names for all services, and for this one before that', () => {
    expect(originOf('dynamodb', { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })).toBe(
      'http://127.0.0.1:1',
    )
    expect(originOf('dynamodb', { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:2' })).toBe('http://127.0.0.1:2')
    expect(originOf('secretsmanager', {})).toBe('http://127.0.0.1:1')
    expect(originOf('secretsmanager', { AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:3' })).toBe(
      'http://127.0.0.1:3',
    )
  })

  it('needs a region', () => {
    expect(() => awsEndpoint('dynamodb')).toThrow(MissingEnvironmentError)
  })
})
