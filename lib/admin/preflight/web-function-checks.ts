import { LambdaClient } from '@aws-sdk/client-lambda'
import * as z from 'zod'
import { signRequest } from '#adapters/aws/sign-request.ts'
import { type Finding, fine, wrong } from '../health/finding.ts'

/** GetWebAccountSettings of the API `lambda-web` (botocore 1.43.107, lambda-web/2025-03-07). The SDK for JavaScript has no client of it. */
const SETTINGS_PATH = '/2025-03-07/web-account-settings'

const TIMEOUT_MILLISECONDS = 10_000

/** Of each environment of a Web Function. */
const VCPUS_PER_ENVIRONMENT = 2

/** One revision is replaced by another while both serve. */
const ENVIRONMENTS_MIN = 4

const settings = z.object({
  accountQuotas: z.object({ maxTotalArmVCpus: z.number(), maxTotalRateLimit: z.number() }),
})

/**
 * Whether the region has Web Functions, and the account enough of them. AWS publishes no list of regions: the API of the region is asked.
 * Nothing of this was tried with a real account.
 */
export async function checkWebFunctions(region: string): Promise<Finding[]> {
  const advice =
    'Choose a region that has Lambda Web Functions, let the caller use lambda:GetWebAccountSettings, or remove -c relay=web.'
  const reply = await askSettings(region).catch((error: unknown) => String(error))
  if (typeof reply === 'string' || reply.status !== 200) {
    const how = typeof reply === 'string' ? reply : `${reply.status} ${reply.body.slice(0, 200)}`
    return [wrong('web functions', `Lambda of ${region} does not say what it allows of Web Functions: ${how}`, advice)]
  }
  const { maxTotalArmVCpus, maxTotalRateLimit } = settings.parse(JSON.parse(reply.body)).accountQuotas
  const environments = Math.floor(maxTotalArmVCpus / VCPUS_PER_ENVIRONMENT)
  const found = `${region} allows ${environments} environments of Web Functions and ${maxTotalRateLimit} requests a second`
  return environments < ENVIRONMENTS_MIN
    ? [
        wrong(
          'web functions',
          found,
          `Ask AWS for at least ${ENVIRONMENTS_MIN * VCPUS_PER_ENVIRONMENT} vCPUs of Web Functions.`,
        ),
      ]
    : [fine('web functions', found)]
}

async function askSettings(region: string): Promise<{ readonly status: number; readonly body: string }> {
  const host = `lambda.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`
  const credentials = await new LambdaClient({ region }).config.credentials()
  const unsigned = { method: 'GET', path: SETTINGS_PATH, headers: { host }, body: '' } as const
  const scope = { service: 'lambda', region, credentials, nowMilliseconds: Date.now() }
  const { host: _host, ...headers } = signRequest(unsigned, scope)
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS)
  const response = await fetch(`https://${host}${SETTINGS_PATH}`, { headers, signal })
  return { status: response.status, body: await response.text() }
}
