import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import { describeKeys, type SigningKey, type SigningKeyView } from '#core/cdn-signing-keys.ts'
import { type Outcome, respondToCloudFormation, retryTransientErrors } from '#platform/aws/custom-resource.ts'
import { environmentVariable } from '#platform/configuration.ts'
import { SecretChangedError } from '#platform/replace-secret.ts'
import { CloudFrontClient } from './cloudfront-client.ts'
import { KeyGroup } from './key-group.ts'
import {
  ensureKeys,
  KeyChangeRefusedError,
  type KeyContext,
  listKeys,
  removeAll,
  removeKey,
  rotateKeys,
} from './signing-keys.ts'

/** The actions of `npm run admin -- cdn-key`. */
const actionSchema = z.discriminatedUnion('action', [
  z.object({ action: z.literal('list') }),
  z.object({ action: z.literal('rotate') }),
  z.object({ action: z.literal('remove'), keyPairId: z.string() }),
])
const propertiesSchema = z.object({ KeyGroupName: z.string().check(z.minLength(1)) })

/** The keys after an action, without their private halves; or why the action was refused. */
type ActionResult = { readonly keys: readonly SigningKeyView[] } | { readonly refused: string }

/** Lambda delivers at least once, so runs of one event may overlap. A retry finds the changes of the other run. */
const TRIES_MAX = 3

const secretsManager = new SecretsManagerClient({})
const cloudFront = new CloudFrontClient({})

/**
 * Manages the keys that sign video urls, and the key group by which CloudFront trusts them. For CloudFormation, a custom
 * resource: it creates the group with a first key (attribute `KeyGroupId`) and deletes it. For the operator, it
 * lists, rotates and removes keys. Private keys are generated here and stored only in the secret `CDN_SIGNING_KEY_SECRET_ARN`.
 * @throws ResponseNotTakenError if CloudFormation did not accept the response, so that Lambda retries the event.
 */
export async function handler(event: CloudFormationCustomResourceEvent | object): Promise<ActionResult | undefined> {
  if (!isResourceEvent(event)) {
    return await act(event)
  }
  await respondToCloudFormation(event, { outcome: await run(event), physicalResourceId: physicalIdOf(event) })
  return undefined
}

function isResourceEvent(event: object): event is CloudFormationCustomResourceEvent {
  return 'RequestType' in event && 'ResponseURL' in event
}

async function act(event: object): Promise<ActionResult> {
  const { data: command } = actionSchema.safeParse(event)
  if (command === undefined) {
    return { refused: 'this function knows the actions list, rotate and remove' }
  }
  const context = contextOf(environmentVariable('CDN_KEY_GROUP_NAME'))
  try {
    const keys = await change(context, command)
    return { keys: describeKeys(keys, context.nowMilliseconds()) }
  } catch (error) {
    if (error instanceof KeyChangeRefusedError || error instanceof SecretChangedError) {
      return { refused: error.message }
    }
    throw withoutMessage(error)
  }
}

function change(context: KeyContext, command: z.infer<typeof actionSchema>): Promise<readonly SigningKey[]> {
  switch (command.action) {
    case 'list':
      return listKeys(context)
    case 'rotate':
      return rotateKeys(context)
    case 'remove':
      return removeKey(context, command.keyPairId)
    default:
      return command satisfies never
  }
}

/** Messages of a parser or of OpenSSL may quote their input, so logs and responses get the name alone. */
function withoutMessage(error: unknown): Error {
  const name = error instanceof Error ? error.name : 'UnknownError'
  return Object.assign(new Error('the keys could not be changed or listed'), { name, stack: name })
}

async function run(event: CloudFormationCustomResourceEvent): Promise<Outcome> {
  try {
    const context = contextOf(physicalIdOf(event))
    if (event.RequestType === 'Delete') {
      await retryTransientErrors(() => removeAll(context))
      return { Status: 'SUCCESS', Data: {} }
    }
    return { Status: 'SUCCESS', Data: { KeyGroupId: await retryTransientErrors(() => ensure(context)) } }
  } catch (error) {
    const Reason = withoutMessage(error).name
    console.error(JSON.stringify({ level: 'ERROR', message: 'no signing key', error: Reason }))
    return { Status: 'FAILED', Reason }
  }
}

async function ensure(context: KeyContext): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ensureKeys(context)
    } catch (error) {
      if (!(error instanceof SecretChangedError) || tries === TRIES_MAX) {
        throw error
      }
    }
  }
}

/** The name of the group: after a change of the name, CloudFormation deletes the resource with the old one. */
function physicalIdOf(event: CloudFormationCustomResourceEvent): string {
  return event.RequestType === 'Delete'
    ? event.PhysicalResourceId
    : (propertiesSchema.safeParse(event.ResourceProperties).data?.KeyGroupName ?? event.LogicalResourceId)
}

function contextOf(groupName: string): KeyContext {
  return {
    secretsManager,
    secretArn: environmentVariable('CDN_SIGNING_KEY_SECRET_ARN'),
    group: new KeyGroup(cloudFront, groupName),
    nowMilliseconds: Date.now,
  }
}
