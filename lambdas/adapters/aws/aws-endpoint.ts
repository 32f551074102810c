import { environmentVariable } from '../environment.ts'

/** Services that are called without the SDK, by their names in signatures and hosts. */
export type AwsServiceName = 'dynamodb' | 'secretsmanager'

/** The SDK's own variables for endpoints. */
const ENDPOINT_VARIABLES = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  secretsmanager: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
} as const

/** Where requests for a service go, and the region in their signatures. */
export type AwsEndpoint = { readonly region: string; readonly url: URL }

/** One value per service. An endpoint changes between tests, but never within a function. */
const kept = new Map<AwsServiceName, { readonly region: string; readonly address: string; readonly url: URL }>()

/**
 * The endpoint of a service: the one that the environment names, or else the public one of the function's region.
 * @throws MissingEnvironmentError without AWS_REGION.
 */
export function awsEndpoint(service: AwsServiceName): AwsEndpoint {
  const region = environmentVariable('AWS_REGION')
  const address = process.env[ENDPOINT_VARIABLES[service]] || process.env.AWS_ENDPOINT_URL || publicUrl(service, region)
  const last = kept.get(service)
  if (last?.address === address && last.region === region) {
    return last
  }
  const endpoint = { region, address, url: new URL(address) }
  kept.set(service, endpoint)
  return endpoint
}

/** The partition of China has a different suffix (AWS general reference, "Regional endpoints"). */
function publicUrl(service: AwsServiceName, region: string): string {
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}
