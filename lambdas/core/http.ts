/**
 * The header by which the front door proves itself to the API. CloudFront adds its secret value to each request and replaces what a
 * viewer sends under this name. Where only the time limit of a response depends on the header, its presence is enough: a client that
 * sends it to the API's own address shortens its own wait.
 */
export const FRONT_DOOR_HEADER = 'x-reelgate-front-door'

/** The address of the viewer, set by the front door; valid only beside the right value of {@link FRONT_DOOR_HEADER}. */
export const VIEWER_ADDRESS_HEADER = 'x-reelgate-viewer-address'

/** Seconds of silence after which the front door gives up a response: the most that CloudFront allows without a raised quota. */
export const FRONT_DOOR_SILENCE_SECONDS = 120

/** Keeps browsers from taking a response for another type than its own, such as words of a client or of an upstream for a page. */
export const NO_SNIFFING = { 'x-content-type-options': 'nosniff' } as const

/**
 * Stops clients from a retry that could be billed twice, or cannot succeed. The `openai` packages for Node and Python, which retry 408, 409,
 * 429 and 5xx, read this header; so does Claude Code.
 */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const

/** Hosts of this machine, which only a local host can mean. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]']

/** The host of a URL as sockets take it: only a URL writes `::1` as `[::1]`, and Node would look that up as a name. */
export function bareHostname({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '')
}
