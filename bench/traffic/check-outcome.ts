import { formatMark, type Mark, marksIn } from './mark.ts'
import { kindOf } from './marked-request.ts'
import type { Outcome } from './send-marked.ts'

/** Microcredits of a credit. */
const CREDIT = 1_000_000

/** Credits that a tenant is granted: its own number of thousands, so that a balance tells whose it is. */
export function grantedCredits(tenant: number): number {
  return (tenant + 1) * 1_000
}

/** Requests a minute of a tenant's key: its own number. */
export function ratePerMinute(tenant: number): number {
  return 50_000 + tenant
}

/** What a response has of another request or tenant, or lacks of its own; empty when it is in order. */
export function checkOutcome(outcome: Outcome): readonly string[] {
  const { status, end } = outcome
  if (status === undefined) {
    return end === 'left' ? [] : ['no response']
  }
  const whole = end === 'whole' ? checkWhole(outcome) : end === 'broken' ? ['the response broke off'] : []
  return [...foreignParts(outcome), ...whole]
}

/** What a response has of another request or tenant; a response that has begun has a request id of its own. */
export function foreignParts({ mark, headers, body, status }: Outcome): readonly string[] {
  if (status === undefined) {
    return []
  }
  const own = formatMark(mark)
  const all = [...marksIn(decodeHeaders(headers)), ...marksIn(body), ...marksInImages(body)]
  return [
    ...all.filter((each) => each !== own).map((each) => `the response has ${each}`),
    ...checkRate(headers['x-ratelimit-limit-requests'], mark),
    ...(typeof headers['x-request-id'] === 'string' ? [] : ['no request id']),
  ]
}

function decodeHeaders(headers: Outcome['headers']): string {
  return Object.values(headers)
    .flatMap((value) => value ?? [])
    .map((value) => (value.includes('%') ? decodeURIComponent(value) : value))
    .join('\n')
}

function marksInImages(body: string): readonly string[] {
  const images = [...body.matchAll(/"b64_json":"([^"]*)"/g)]
  return images.flatMap(([, base64 = '']) => marksIn(Buffer.from(base64, 'base64').toString('utf8')))
}

function checkRate(limit: unknown, { tenant }: Mark): readonly string[] {
  return limit === String(ratePerMinute(tenant)) ? [] : [`the limit of the key is ${limit}`]
}

function checkWhole({ kind, mark, status, headers, body }: Outcome): readonly string[] {
  const { status: expected, cost, model, isStream = false } = kindOf(kind)
  if (status !== expected) {
    return [`status ${status}: ${body.slice(0, 200)}`]
  }
  const credits = cost === undefined ? undefined : cost(mark) / CREDIT
  const shown = isStream ? lastCost(body) : headerCost(headers['x-reelgate-cost'])
  const echoes = kind === 'models' || kind === 'model' || kind === 'too expensive' || body.includes(formatMark(mark))
  return [
    ...(echoes ? [] : ['the response lacks its mark']),
    ...(shown === credits ? [] : [`the cost is ${shown} and not ${credits}`]),
    ...(model === undefined || kind === 'image' || body.includes(`"${model}"`)
      ? []
      : [`the response does not name ${model}`]),
    ...(kind === 'embedding' ? checkVector(body, mark) : []),
    ...(kind === 'too expensive' ? checkBalance(body, mark) : []),
    ...(isStream && !body.endsWith('data: [DONE]\n\n') ? ['the stream has no end'] : []),
  ]
}

function headerCost(value: unknown): number | undefined {
  return typeof value === 'string' ? Number(value) : undefined
}

function lastCost(stream: string): number | undefined {
  const found = [...stream.matchAll(/"cost":([\d.e-]+)/g)].at(-1)?.[1]
  return found === undefined ? undefined : Number(found)
}

function checkVector(body: string, { tenant, request }: Mark): readonly string[] {
  return body.includes(`[${tenant},${request},0.5]`) ? [] : ['the vector is another']
}

/** The balance in the message of a refusal is the tenant's own. */
function checkBalance(body: string, { tenant }: Mark): readonly string[] {
  const available = Number(/but ([\d.]+) are available/.exec(body)?.[1])
  const granted = grantedCredits(tenant)
  return available > granted - grantedCredits(0) && available <= granted ? [] : [`the balance is ${available}`]
}
