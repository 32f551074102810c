import type { AllFigures } from '#core/measures.ts'
import { DESCRIBE_CHANNELS } from '#local/aws-front.ts'
import { channelTrafficSchema } from '#local/channel-traffic.ts'
import { signRequest } from '#platform/aws/signature-v4.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { readCloudWatchFigures } from '#platform/telemetry/cloudwatch-figures.ts'
import { stackName } from '../../config/platform-facts.ts'
import { CommandFailedError, explainFailure } from '../failures.ts'
import type { AdminContext } from './command.ts'

/** Switches must be shown although the figures cannot be read: undefined then, with a warning. */
export async function readFigures(
  { local, stage, warn }: AdminContext,
  channels: readonly string[],
  nowMilliseconds: number,
): Promise<AllFigures | undefined> {
  try {
    return local
      ? await readLocalFigures(process.env.AWS_ENDPOINT_URL_SFN ?? '', nowMilliseconds)
      : await readCloudWatchFigures(stackName(stage), channels, nowMilliseconds)
  } catch (error) {
    warn(`errors and latency are not shown: ${explainFailure(error) ?? String(error)}`)
    return undefined
  }
}

const MINUTE_MILLISECONDS = 60_000
const RESPONSE_MILLISECONDS_MAX = 5_000

/**
 * The last minute of a running local host, over the port where it serves Step Functions, which only its own user may use.
 * @param endpoint of that port. The credentials are those of the environment, which `AdminContext.output` sets.
 * @throws CommandFailedError if the host does not know the request.
 */
async function readLocalFigures(endpoint: string, nowMilliseconds: number): Promise<AllFigures> {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = process.env
  const { host } = new URL(endpoint)
  const body = '{}'
  const unsigned = {
    host,
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': DESCRIBE_CHANNELS,
    // The host compares the signature with the digest that this header has.
    'x-amz-content-sha256': sha256Hex(body),
  }
  const scope = {
    service: 'states',
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    nowMilliseconds,
  }
  const headers = signRequest({ headers: unsigned, body }, scope)
  const response = await fetch(endpoint, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(RESPONSE_MILLISECONDS_MAX),
  })
  if (response.status !== 200) {
    throw new CommandFailedError(
      'the local host does not tell the figures of its channels: start it again with this version',
    )
  }
  const { channels, credentials } = channelTrafficSchema.parse(await response.json())
  const entries = Object.entries(channels)
  return {
    minuteFrom: nowMilliseconds - MINUTE_MILLISECONDS,
    byChannel: new Map(entries.map(([id, { breaker: _, ...figures }]) => [id, figures])),
    breakers: new Map(entries.flatMap(([id, { breaker }]) => (breaker === null ? [] : [[id, breaker]]))),
    credentials: new Map(Object.entries(credentials)),
  }
}
