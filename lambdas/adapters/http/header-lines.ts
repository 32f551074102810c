import type { HttpRequest } from './http-request.ts'

/**
 * The header fields of a request as Node takes a list of them: names and values in turns. Node writes a list as it is, at once, while it
 * keeps each header of an object first. So the list has to be complete, and to name each header once, whatever the case: the last value
 * counts.
 */
export function headerLines({ method, headers, body }: HttpRequest, host: string): string[] {
  const lines: string[] = []
  const places = new Map<string, number>()
  for (const name in headers) {
    const field = name.toLowerCase()
    const place = places.get(field) ?? lines.length
    places.set(field, place)
    lines[place] = name
    lines[place + 1] = headers[name] ?? ''
  }
  if (!places.has('host')) {
    lines.push('Host', host)
  }
  // Node would send a POST of unknown length in chunks, which not every server takes.
  if ((body !== undefined || method === 'POST') && !places.has('content-length')) {
    lines.push('Content-Length', String(Buffer.byteLength(body ?? '')))
  }
  return lines
}
