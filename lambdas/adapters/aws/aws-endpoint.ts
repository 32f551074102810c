import { environmentVariable } from '../environment.ts'

/** Services that are called without the SDK, by the name that signatures and hosts have for them. */
export type AwsServiceName = 'dynamodb' | 'secretsmanager'

/** Endpoints of the environment, by the SDK's own variables. */
const ENDPOINT_VARIABLES = {
  dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB',
  secretsmanager: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
} as const

/** Where requests for a service go, and the region that they are signed for. */
export type AwsEndpoint = { readonly region: string; readonly url: URL }

/** One value for each service: an endpoint changes between tests, never in a function. */
const kept = new Map<AwsServiceName, { readonly region: string; readonly address: string; readonly url: URL }>()

/**
 * Where a service is: what the environment names, else the service's own address in the function's region.
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

/** China is a partition with a suffix of its own (AWS general reference, "Regional endpoints"). */
function publicUrl(service: AwsServiceName, region: string): string {
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}
