import { type ConsoleSite, isConsoleOrigin } from './console-site.ts'

/** What a browser says about the page that sends a request. */
export type SenderFacts = {
  readonly method: string
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, which older browsers do not send. */
  readonly fetchSite: string | undefined
  /** `x-reelgate-console`, which no form and no page of another origin can send. */
  readonly consoleHeader: string | undefined
  /** Undefined for a request without a body. */
  readonly contentType: string | undefined
  /** The `Host` header. */
  readonly host: string | undefined
}

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']

const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * Why a request may not come from a page of the console; undefined for one that does. Each rule alone refuses requests of other
 * sites: they stand together because browsers differ.
 */
export function crossSiteProblem(facts: SenderFacts, site: ConsoleSite): string | undefined {
  if (SAFE_METHODS.includes(facts.method)) {
    return undefined
  }
  if (facts.consoleHeader !== '1') {
    return 'send the header `x-reelgate-console: 1`'
  }
  if (!isConsoleOrigin(facts.origin, { site, host: facts.host })) {
    return 'the header `Origin` must name the origin of the console'
  }
  if (facts.fetchSite !== undefined && facts.fetchSite !== 'same-origin') {
    return 'the request must come from a page of the console'
  }
  return facts.contentType === undefined || JSON_TYPE.test(facts.contentType)
    ? undefined
    : 'the content type of the body must be `application/json`'
}
