/** The host of a URL as sockets take it: only a URL writes `::1` as `[::1]`, and Node would look that up as a name. */
export function bareHostname({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '')
}
