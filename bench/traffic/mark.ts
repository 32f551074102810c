/** What a request says of itself wherever it can: in its prompt, and so in its response. */
export type Mark = {
  /** Number of the tenant. */
  readonly tenant: number
  /** Number of the request, over all tenants. */
  readonly request: number
}

/** Such as `mark-3-1207.`; the full stop ends the number wherever the string is cut. */
export function formatMark({ tenant, request }: Mark): string {
  return `mark-${tenant}-${request}.`
}

const MARKS = /mark-\d+-\d+\./g

/** Every mark of a string, in order. */
export function marksIn(string: string): readonly string[] {
  return string.match(MARKS) ?? []
}

/** The mark that a string has first. @throws RangeError without one. */
export function readMark(string: string): Mark {
  const [, tenant, request] = /mark-(\d+)-(\d+)\./.exec(string) ?? []
  if (tenant === undefined || request === undefined) {
    throw new RangeError('the request has no mark')
  }
  return { tenant: Number(tenant), request: Number(request) }
}
