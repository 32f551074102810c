import { signRequest } from '#adapters/aws/sign-request.ts'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import type { AllFigures } from '#adapters/telemetry/channel-figures.ts'
import { DESCRIBE_CHANNELS } from '#local/aws-front.ts'
import { channelTrafficSchema } from '#local/channel-traffic.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'

const MINUTE_MILLISECONDS = 60_000
const ANSWER_MILLISECONDS_MAX = 5_000

/**
 * The last minute of a running local host, over the port where it serves Step Functions, which only its own user may use.
 * @param endpoint of that port. The credentials are those of the environment, which `AdminContext.output` sets.
 * @throws CommandFailedError if the host does not know the request.
 */
export async function readLocalFigures(endpoint: string, nowMilliseconds: number): Promise<AllFigures> {
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
    signal: AbortSignal.timeout(ANSWER_MILLISECONDS_MAX),
  })
  if (response.status !== 200) {
    throw new CommandFailedError(
      'the local host does not tell the figures of its channels: start it again with this version',
    )
  }
  const { channels } = channelTrafficSchema.parse(await response.json())
  const entries = Object.entries(channels)
  return {
    minuteFrom: nowMilliseconds - MINUTE_MILLISECONDS,
    byChannel: new Map(entries.map(([id, { breaker: _, ...figures }]) => [id, figures])),
    breakers: new Map(entries.flatMap(([id, { breaker }]) => (breaker === null ? [] : [[id, breaker]]))),
  }
}
