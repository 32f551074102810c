import { STSClient } from '@aws-sdk/client-sts'
import * as z from 'zod'
import { upstreamModelOf } from '#core/catalogue/apis.ts'
import type { AwsAuth } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { withAddresses } from '#core/catalogue/upstream-auth.ts'
import { signRequest } from '#platform/aws/signature-v4.ts'
import { type Finding, fine, warning, wrong } from '../findings.ts'

const TIMEOUT_MILLISECONDS = 10_000

type SignedGet = { readonly service: string; readonly region: string; readonly host: string; readonly path: string }

/** Asks AWS by its REST APIs, with the credentials of the caller. @throws what the SDK throws without credentials, and what `fetch` throws. */
export async function signedGet({ service, region, host, path }: SignedGet) {
  const credentials = await new STSClient({ region }).config.credentials()
  const scope = { service, region, credentials, nowMilliseconds: Date.now() }
  const { host: _, ...headers } = signRequest({ method: 'GET', path, headers: { host }, body: '' }, scope)
  const response = await fetch(`https://${host}${path}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) })
  return { status: response.status, body: await response.text() }
}

/**
 * Whether the models of channels that sign can be invoked in their regions, as AWS tells the caller of a deployment. What a role of another
 * account may do cannot be asked.
 * @param region of the stage.
 */
export async function checkBedrockModels(config: Pick<GatewayConfig, 'channels'>, region: string): Promise<Finding[]> {
  const { channels } = withAddresses(config, region)
  const findings = channels.flatMap((channel) => {
    const aws = channel.provider === 'openai' ? channel.auth?.aws : undefined
    if (channel.provider !== 'openai' || aws === undefined) {
      return []
    }
    const models = [...new Set(Object.keys(channel.models).map((id) => upstreamModelOf(channel, id)))]
    return [checkChannel({ id: channel.id, aws: { ...aws, region: aws.region ?? region }, models })]
  })
  return (await Promise.all(findings)).flat()
}

type Asked = {
  readonly id: string
  readonly aws: AwsAuth & { readonly region: string }
  readonly models: readonly string[]
}

async function checkChannel({ id, aws, models }: Asked): Promise<Finding[]> {
  const { service, region, role_arn: role } = aws
  if (role !== undefined) {
    return [fine('models', `channel ${id}: ${role} invokes them, and is not asked`)]
  }
  const problems =
    service === 'bedrock'
      ? await Promise.all(models.map(async (model) => ({ model, problem: await problemOf(model, region) })))
      : await problemsOfMantle(models, region)
  const unknown = problems.filter(({ problem }) => problem?.isUnknown)
  const missing = problems.filter(({ problem }) => problem !== undefined && !problem.isUnknown)
  const said = (some: typeof problems) => some.map(({ model, problem }) => `${model} (${problem?.text})`).join(', ')
  return [
    ...(missing.length === 0 ? [] : [wrong('models', `channel ${id} in ${region}: ${said(missing)}`, MODEL_ADVICE)]),
    ...(unknown.length === 0
      ? []
      : [warning('models', `channel ${id} in ${region} is not told: ${said(unknown)}`, PERMISSION_ADVICE)]),
    ...(missing.length + unknown.length === 0
      ? [fine('models', `channel ${id}: ${service} of ${region} has all ${models.length}`)]
      : []),
  ]
}

const MODEL_ADVICE = 'Choose another region or id, or ask for access to the model in the console of Bedrock.'
const PERMISSION_ADVICE =
  'Let the caller use bedrock:GetFoundationModelAvailability, bedrock:GetInferenceProfile and bedrock-mantle:ListModels.'

type Problem = { readonly text: string; readonly isUnknown: boolean }

/** An inference profile by its id, such as `eu.anthropic...`, or by an ARN. */
const PROFILE = /^(global|apac|[a-z]{2}(-gov)?)\.|inference-profile\//

/** GetInferenceProfile and GetFoundationModelAvailability (Bedrock API reference). */
async function problemOf(model: string, region: string): Promise<Problem | undefined> {
  const isProfile = PROFILE.test(model)
  const path = `/${isProfile ? 'inference-profiles' : 'foundation-model-availability'}/${encodeURIComponent(model)}`
  const host = `bedrock.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const reply = await ask({ service: 'bedrock', region, host, path })
  if ('text' in reply) {
    return reply
  }
  const parsed = (isProfile ? profile : availability).safeParse(reply.json)
  return parsed.success ? undefined : { text: 'cannot be invoked there', isUnknown: false }
}

const available = z.literal('AVAILABLE')
const availability = z.object({
  authorizationStatus: z.literal('AUTHORIZED'),
  entitlementAvailability: available,
  regionAvailability: available,
  agreementAvailability: z.object({ status: available }),
})
const profile = z.object({ status: z.literal('ACTIVE') })
const listed = z.object({ data: z.array(z.object({ id: z.string() })) })

/** Mantle lists the models of a region. */
async function problemsOfMantle(models: readonly string[], region: string) {
  const host = `bedrock-mantle.${region}.api.aws`
  const reply = await ask({ service: 'bedrock-mantle', region, host, path: '/v1/models' })
  const ids = new Set('text' in reply ? [] : (listed.safeParse(reply.json).data?.data ?? []).map(({ id }) => id))
  const missing = { text: 'not listed there', isUnknown: false }
  return models.map((model) => ({
    model,
    problem: 'text' in reply ? reply : ids.has(model) ? undefined : missing,
  }))
}

async function ask(request: SignedGet): Promise<Problem | { readonly json: unknown }> {
  const reply = await signedGet(request).catch((error: unknown) => String(error))
  if (typeof reply === 'string' || reply.status === 403) {
    return { text: typeof reply === 'string' ? reply : 'the caller may not ask', isUnknown: true }
  }
  if (reply.status === 404 || reply.status === 400) {
    return { text: 'unknown there', isUnknown: false }
  }
  try {
    return reply.status === 200 ? { json: JSON.parse(reply.body) } : { text: `HTTP ${reply.status}`, isUnknown: true }
  } catch {
    return { text: 'no JSON', isUnknown: true }
  }
}
