import type { Environment } from '../config/platform-facts.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Beginning of the ids of credentials that AWS issues (IAM user guide, "Unique identifiers"). */
const ISSUED_BY_AWS = /^A[KS]IA/

/** Host names of AWS itself. */
const AWS_HOST = /(^|\.)(amazonaws\.com|amazonaws\.com\.cn|api\.aws|aws\.dev|amazonaws\.eu)$/

/** Variables that lead to the credentials of a real account. */
const WAYS_TO_AN_ACCOUNT = [
  'AWS_PROFILE',
  'AWS_DEFAULT_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
]

const TEST_CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
const REGION = 'us-east-1'

/**
 * The environment for a deployment to an emulator of AWS: its endpoint, a region, and credentials of no real account, regardless
 * of those in the terminal.
 * @throws UsageError without an endpoint, for an endpoint of AWS itself, and if the SDK would ignore the endpoint.
 */
export function emulatorEnvironment(environment: Environment): Environment & { readonly AWS_ENDPOINT_URL: string } {
  const { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: keyId, AWS_SECRET_ACCESS_KEY: secret } = environment
  if (!endpoint) {
    throw new UsageError(
      'AWS_ENDPOINT_URL is not set: start an emulator of AWS and set it, as to http://127.0.0.1:4566',
    )
  }
  for (const [name, value] of Object.entries(environment)) {
    if (/^AWS_ENDPOINT_URL(_|$)/.test(name) && value) {
      refuseAws(name, value)
    }
  }
  if (environment.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === 'true') {
    throw new UsageError('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true: AWS itself would be called; unset it')
  }
  const kept = Object.entries(environment).filter(([name]) => !WAYS_TO_AN_ACCOUNT.includes(name))
  const own = keyId && secret && !ISSUED_BY_AWS.test(keyId) ? {} : TEST_CREDENTIALS
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION || REGION
  return { ...Object.fromEntries(kept), ...own, AWS_REGION: region, AWS_ENDPOINT_URL: endpoint }
}

function refuseAws(name: string, value: string): void {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
    throw new UsageError(`${name} is ${value}: use an http(s) url, as http://127.0.0.1:4566`)
  }
  // A name may end in the dot of the root.
  const host = new URL(value).hostname.replace(/\.$/, '')
  if (AWS_HOST.test(host)) {
    throw new UsageError(`${name} is ${value}, which is AWS itself: this command deploys to emulators only`)
  }
}
