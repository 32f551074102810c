import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { withoutSecrets } from '#core/redaction.ts'
import { logger } from '#platform/telemetry/logger.ts'

/** How a host writes its log to stderr: lines for people, or the JSON of a deployment. */
export type LogForm = 'lines' | 'json'

/** A request under way. The path has no query, in which urls of videos have their signatures. */
type Request = { readonly method: string; readonly path: string; isLogged: boolean; isExplained: boolean }

const requests = new AsyncLocalStorage<Request>()

/** The message of the line of each request. */
const REQUEST = 'request'

/**
 * From now on, the log of this process has the level of the environment, which the logger may have been loaded without, and a form of its
 * own. Failures that a response has told have no stack at levels above DEBUG.
 * @param form undefined for the log as a deployment writes it.
 * @param write takes one line without its end.
 */
export function writeLog(form: LogForm | undefined, write: (line: string) => void): void {
  const named = process.env.LOG_LEVEL || 'INFO'
  const level = levelOf(named)
  logger.setLogLevel(level ?? 'INFO')
  if (form === undefined) {
    return
  }
  const log = (json: string) => {
    const line = lineOf(JSON.parse(json), form)
    if (line !== undefined) {
      write(line)
    }
  }
  Object.assign(logger, { console: { trace: log, debug: log, info: log, log, warn: log, error: log } })
  if (level === undefined) {
    logger.warn(`LOG_LEVEL=${named} is no level, so it is INFO; use ${LEVELS.join(', ')}`)
  }
}

const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT', 'CRITICAL'] as const

function levelOf(name: string): (typeof LEVELS)[number] | undefined {
  return LEVELS.find((level) => level === name.toUpperCase())
}

/** Runs what responds to a request, and writes its line if no function has written one, such as for a video or a body that is too large. */
export async function logRequest(
  request: IncomingMessage,
  response: ServerResponse,
  serve: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const [path = '/'] = (request.url ?? '/').split('?')
  const current: Request = { method: request.method ?? 'GET', path, isLogged: false, isExplained: false }
  await requests.run(current, async () => {
    await serve()
    if (!current.isLogged) {
      const durationMilliseconds = Math.round(performance.now() - startedAt)
      logger.info(REQUEST, { statusCode: response.statusCode, durationMilliseconds })
    }
  })
}

type Fields = Readonly<Record<string, unknown>>

/** Undefined if another line says as much. */
function lineOf(fields: Fields, form: LogForm): string | undefined {
  const request = requests.getStore()
  const error = isFields(fields.error) ? fields.error : undefined
  const isDebugged = logger.level <= LEVEL_DEBUG
  const isTold = error?.statusCode !== undefined && !isDebugged
  const isRequest = fields.message === REQUEST
  if (request !== undefined && isRequest) {
    request.isLogged = true
  }
  if (form === 'json') {
    const { stack: _, location: __, ...rest } = error ?? {}
    const place =
      isRequest && request !== undefined ? { method: request.method, path: withoutSecrets(request.path) } : {}
    return JSON.stringify({ ...fields, ...place, ...(isTold ? { error: rest } : {}) })
  }
  // The line of a refused request says as much; of one that failed, an earlier line may have said why.
  if (isTold && (Number(error?.statusCode) < 500 || request?.isExplained)) {
    return undefined
  }
  // `channel busy` follows, many times a second where simulated videos are fast.
  if (fields.message === 'submitted' && (fields.outcome === 'busy' || fields.outcome === 'unreachable')) {
    return undefined
  }
  if (request !== undefined && fields.level === 'WARN') {
    request.isExplained = true
  }
  const told = isTold ? { ...error, stack: undefined } : error
  return [timeOf(fields), ...(isRequest ? requestParts(fields, request) : eventParts(fields, told))].join('  ')
}

/** powertools numbers its levels. */
const LEVEL_DEBUG = 8

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** The time of day, UTC. */
function timeOf({ timestamp }: Fields): string {
  return String(timestamp).slice(11, 23)
}

/** `POST /v1/chat/completions 200 109 ms`, then why its key was refused, what a relayed request used and cost, and the ids to look for it. */
function requestParts(fields: Fields, request: Request | undefined): string[] {
  const { statusCode, durationMilliseconds, model, channelId, inputTokens, outputTokens, billedCredits } = fields
  const refusal = [fields.errorCode, fields.reason].filter((each) => each !== undefined).join(': ')
  const place = request === undefined ? String(fields.operation) : `${request.method} ${withoutSecrets(request.path)}`
  return [
    `${place} ${statusCode} ${durationMilliseconds} ms`,
    ...(refusal === '' ? [] : [refusal]),
    ...(model === undefined ? [] : [channelId === undefined ? String(model) : `${model} by ${channelId}`]),
    ...(inputTokens === undefined
      ? []
      : [`${[inputTokens, outputTokens].filter((each) => each !== undefined).join(' + ')} tokens`]),
    ...(billedCredits === undefined ? [] : [`${decimal(billedCredits)} credits`]),
    ...(fields.tenantId === undefined ? [] : [`tenant ${fields.tenantId}`]),
    ...(fields.requestId === undefined ? [] : [String(fields.requestId)]),
  ]
}

/** Without an exponent. */
function decimal(amount: unknown): string {
  return typeof amount === 'number' ? amount.toFixed(6).replace(/\.?0+$/, '') : String(amount)
}

/** Fields that say nothing on one machine, or stand elsewhere in a line. */
const LEFT_OUT = new Set(['level', 'message', 'timestamp', 'service', 'sampling_rate', 'cold_start', 'reason', 'error'])

/** `WARN channel failed: HTTP 500`, then the other fields. The stack of a bug follows on lines of its own. */
function eventParts(fields: Fields, error: Fields | undefined): string[] {
  const cause = [fields.reason, error && `${error.name}: ${error.message}`].filter((each) => each !== undefined)
  const others = Object.entries(fields).filter(
    ([name, value]) => !(LEFT_OUT.has(name) || name.startsWith('function_')) && value !== undefined,
  )
  const stack = typeof error?.stack === 'string' ? error.stack.split('\n').slice(1) : []
  return [
    `${fields.level} ${[fields.message, ...cause].join(': ')}`,
    ...others.map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`),
    ...(stack.length === 0 ? [] : [`\n${stack.join('\n')}`]),
  ]
}
