import { isFrontDoor } from '#adapters/secrets/front-door-secret.ts'
import { type ConsoleSite, consoleSite, crossSiteProblem, isLoopbackHost } from '#core/admin/console-site.ts'
import { CrossSiteError } from '#core/admin/errors.ts'
import { RouteNotFoundError } from '#core/errors.ts'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import { type ApiEvent, headerOf } from './api-event.ts'

/** Where the console of this deployment is served, from `CONSOLE_ORIGIN`. */
export function currentSite(environment: Readonly<Record<string, string | undefined>> = process.env): ConsoleSite {
  return consoleSite(environment.CONSOLE_ORIGIN)
}

/**
 * Lets requests through that came by the front door, where the environment names its secret (`FRONT_DOOR_SECRET_ARN`): to all
 * others the admin API does not exist.
 * @throws RouteNotFoundError, and the errors of a secret that cannot be read.
 */
export async function requireFrontDoor(event: ApiEvent): Promise<void> {
  const secretArn = process.env.FRONT_DOOR_SECRET_ARN
  if (secretArn && !(await isFrontDoor(secretArn, headerOf(event, FRONT_DOOR_HEADER)))) {
    throw new RouteNotFoundError()
  }
}

/**
 * Refuses requests that a page of another site may have sent, and on loopback requests to a name that is not this machine's.
 * @throws CrossSiteError
 */
export function requireSameSite(event: ApiEvent, site: ConsoleSite): void {
  const host = headerOf(event, 'host')
  if (site.isLoopback && !isLoopbackHost(host)) {
    throw new CrossSiteError('use the address that `npm start` prints, or localhost')
  }
  const problem = crossSiteProblem(
    {
      method: event.httpMethod,
      origin: headerOf(event, 'origin'),
      fetchSite: headerOf(event, 'sec-fetch-site'),
      consoleHeader: headerOf(event, 'x-reelgate-console'),
      contentType: event.body ? (headerOf(event, 'content-type') ?? '') : undefined,
      host,
    },
    site,
  )
  if (problem !== undefined) {
    throw new CrossSiteError(problem)
  }
}
