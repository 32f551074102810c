import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import type { IGrantable } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import type { Channel } from '#core/catalogue/channel.ts'
import type { FunctionNeeds, ObjectPrefix } from '#routes/needs.ts'
import type { FunctionEnvironment } from '../config/function-variables.ts'
import type { VideoBucket } from './buckets.ts'
import type { SizedNeeds } from './function-needs.ts'
import type { FunctionSources } from './function-sources.ts'
import { type FunctionEntry, GatewayFunction } from './gateway-function.ts'
import type { JobTable } from './job-table.ts'
import { type ChannelSecret, type FrontDoorSecret, grantSecret } from './secrets.ts'
import { grantUpstreams } from './upstream-access.ts'
import type { VideoDelivery } from './video-delivery.ts'

/** What functions and the web ACL know of the front door. */
type FrontDoorResources = {
  readonly distribution: Distribution
  /** Without a slash at the end. */
  readonly url: string
  readonly secret: FrontDoorSecret
}

/** The resources that functions share. */
export type ServiceResources = {
  readonly sources: FunctionSources
  readonly table: JobTable
  readonly bucket: VideoBucket
  readonly delivery: VideoDelivery
  /** Undefined without the console. */
  readonly frontDoor: FrontDoorResources | undefined
  readonly channelSecret: ChannelSecret
  /** Of the configuration. */
  readonly channels: readonly Channel[]
  /** Whether the configuration has issuers, whose tokens stand for API keys. */
  readonly takesTokens: boolean
  /** Additional variables of every function. */
  readonly environment: FunctionEnvironment
}

type EquippedFunctionProps = {
  readonly folder: string
  readonly needs: SizedNeeds
  readonly entry?: FunctionEntry
  readonly reservedConcurrency?: number | undefined
}

/** Creates a function with exactly the permissions and variables of its needs. */
export function createFunction(
  scope: Construct,
  id: string,
  resources: ServiceResources,
  props: EquippedFunctionProps,
): GatewayFunction {
  const { folder, needs, ...rest } = props
  const { timeoutSeconds, memoryMegabytes, readsConfiguration, takesTokens, shipsTokenizer, shipsOpenapi } = needs
  const files = [
    ...(readsConfiguration ? (['gateway.json'] as const) : []),
    ...(takesTokens ? ([IDENTITY_FILE] as const) : []),
    ...(shipsTokenizer ? (['cl100k_base.json'] as const) : []),
    ...(shipsOpenapi === undefined ? [] : [shipsOpenapi]),
  ]
  const { sources } = resources
  const created = new GatewayFunction(scope, id, { sources, folder, timeoutSeconds, memoryMegabytes, files, ...rest })
  giveTable(created, needs, resources)
  giveObjects(created, needs, resources)
  giveDelivery(created, needs, resources)
  created.setEnvironment(resources.environment)
  giveFrontDoor(created, needs, resources)
  giveIssuers(created, needs)
  giveChannels(created, needs, resources)
  return created
}

/** What runs code of the gateway: a function, or the Web Function. */
type Equippable = Construct & IGrantable & { setEnvironment(values: FunctionEnvironment): void }

/** Gives the Web Function of relayed requests the permissions and variables of its needs. */
export function equipRelayServer(created: Equippable, needs: FunctionNeeds, resources: ServiceResources): void {
  giveTable(created, needs, resources)
  created.setEnvironment(resources.environment)
  giveIssuers(created, needs)
  giveChannels(created, needs, resources)
}

/** Ships with code that takes tokens of issuers. */
export const IDENTITY_FILE = 'identity.json'

function giveIssuers(created: Equippable, { takesTokens }: Pick<FunctionNeeds, 'takesTokens'>): void {
  if (takesTokens) {
    created.setEnvironment({ IDENTITY_FILE })
  }
}

function giveChannels(
  created: Equippable,
  { callsUpstreams }: Pick<FunctionNeeds, 'callsUpstreams'>,
  { channelSecret, channels }: ServiceResources,
): void {
  if (callsUpstreams !== undefined) {
    const { secretArn } = channelSecret.secret
    grantSecret(created, secretArn)
    created.setEnvironment({ CHANNEL_SECRET_ARN: secretArn })
  }
  if (callsUpstreams === 'relayed') {
    grantUpstreams(created, channels)
  }
}

function giveTable(
  created: Equippable,
  needs: Pick<SizedNeeds, 'table' | 'transacts' | 'dueIndex'>,
  { table }: ServiceResources,
): void {
  if (needs.table.length === 0) {
    return
  }
  for (const access of needs.table) {
    table.grant(created, { ...access, transacts: needs.transacts ?? false })
  }
  if (needs.dueIndex) {
    table.grantDueQuery(created)
  }
  created.setEnvironment({ TABLE_NAME: table.name })
}

const PREFIXES = ['v/', 'requests/', 'texts/'] as const satisfies readonly ObjectPrefix[]

function giveObjects(created: GatewayFunction, { objects }: FunctionNeeds, { bucket }: ServiceResources): void {
  if (objects === undefined) {
    return
  }
  for (const prefix of PREFIXES) {
    const actions = objects[prefix]
    if (actions !== undefined) {
      bucket.grantObjects(created, actions, prefix)
    }
  }
  created.setEnvironment({ BUCKET_NAME: bucket.bucket.bucketName })
}

function giveFrontDoor(created: GatewayFunction, needs: SizedNeeds, { frontDoor }: ServiceResources): void {
  if (!needs.provesFrontDoor || frontDoor === undefined) {
    return
  }
  const { secretArn } = frontDoor.secret
  grantSecret(created, secretArn)
  created.setEnvironment({ FRONT_DOOR_SECRET_ARN: secretArn, CONSOLE_ORIGIN: frontDoor.url })
}

function giveDelivery(created: GatewayFunction, needs: FunctionNeeds, { delivery }: ServiceResources): void {
  if (needs.signsUrls) {
    delivery.allowSigning(created)
  }
}
