import { randomUUID } from 'node:crypto'
import { FRONT_DOOR_HEADER, RELEASE_HEADER } from '#core/cdn/front-door.ts'

/** Longer than the ten seconds in which an environment must start. */
const REQUEST_MILLISECONDS_MAX = 15_000
/** Covers the minute until IAM knows a new role, and several starts. */
const PATIENCE_MILLISECONDS_MAX = 120_000
const PAUSE_MILLISECONDS = 1_000

/** The relay server that a deployment is about to use. */
export type Candidate = {
  /** `https://` and the domain of the endpoint. */
  readonly origin: string
  /** What its health must name. */
  readonly release: string
  /** The value that proves the front door. */
  readonly secret: string
}

/** Clock and pause; tests replace them. In milliseconds. */
type Patience = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> }

/** The relay server did not respond as it must. The message has no secret. */
export class SmokeFailedError extends Error {
  override readonly name = 'SmokeFailedError'
}

type Step = {
  readonly name: string
  readonly request: Request
  /** What is wrong with a response; undefined for nothing. */
  readonly fault: (response: Response) => string | undefined
}

const REAL: Patience = {
  now: () => performance.now(),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}

/**
 * Proves that a release starts and serves: its health, a key looked up in the table by a GET and by a POST with a body, and nothing for a request
 * without the secret. It has no key, and so moves no money. Each step is repeated until two minutes have passed since the first one.
 * @throws SmokeFailedError that names the step and its last response.
 */
export async function smokeRelay(candidate: Candidate, { now, pause }: Patience = REAL): Promise<void> {
  const giveUpAt = now() + PATIENCE_MILLISECONDS_MAX
  for (const step of stepsOf(candidate)) {
    for (let fault = await faultOf(step); fault !== undefined; fault = await faultOf(step)) {
      if (now() + PAUSE_MILLISECONDS > giveUpAt) {
        throw new SmokeFailedError(`${step.name}: ${fault}`)
      }
      await pause(PAUSE_MILLISECONDS)
    }
  }
}

function stepsOf({ origin, release, secret }: Candidate): readonly Step[] {
  const proof = { [FRONT_DOOR_HEADER]: secret }
  const stranger = { ...proof, authorization: `Bearer smoke-${randomUUID()}` }
  const body = JSON.stringify({ model: 'none', messages: [] })
  return [
    {
      name: 'health of the new release',
      request: new Request(`${origin}/health`, { headers: proof }),
      fault: (response) =>
        wrongStatus(response, 200) ??
        (response.headers.get(RELEASE_HEADER) === release ? undefined : 'another release responds'),
    },
    {
      name: 'models with an unknown key',
      request: new Request(`${origin}/v1/models`, { headers: stranger }),
      fault: (response) => wrongStatus(response, 401),
    },
    {
      name: 'chat with an unknown key',
      request: new Request(`${origin}/v1/chat/completions`, { method: 'POST', headers: stranger, body }),
      fault: (response) => wrongStatus(response, 401),
    },
    {
      name: 'health without the secret of the front door',
      request: new Request(`${origin}/health`),
      fault: (response) => wrongStatus(response, 404),
    },
  ]
}

async function faultOf({ request, fault }: Step): Promise<string | undefined> {
  try {
    const response = await fetch(request.clone(), { signal: AbortSignal.timeout(REQUEST_MILLISECONDS_MAX) })
    await response.body?.cancel()
    return fault(response)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return cause instanceof Error ? `no response (${cause.message || cause.name})` : 'no response'
  }
}

/** Lambda names its own errors in a header: of a process that does not start, for example. */
function wrongStatus({ status, headers }: Response, expected: number): string | undefined {
  const reason = headers.get('lambda-web-error-type')
  return status === expected
    ? undefined
    : `status ${status} instead of ${expected}${reason === null ? '' : ` (${reason})`}`
}
