import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { refuseIgnored } from '#core/api/ignored-fields.ts'
import { otherKindMessage } from '#core/api/request-issues.ts'
import { BudgetExceededError } from '#core/budgets.ts'
import * as errors from '#core/errors.ts'
import { TooManyEventStreamsError, VideoJobConflictError } from '#core/errors.ts'
import { NoIdentityRuleError } from '#core/identity.ts'
import { RATE_PER_MINUTE_DEFAULT, requestRate } from '#core/limits.ts'
import { parseCredits } from '#core/money.ts'
import { InvalidTokenError } from '#core/refused-key.ts'
import { VERSION } from '#core/version.ts'
import { presentedKey } from '#middleware/authenticate.ts'
import { errorResult } from '#middleware/responses.ts'
import { BODY_BYTES_MAX, declaredStatuses, type Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { openapiDocument } from '../../lib/openapi/openapi-document.ts'
import type { OperationObject } from '../../lib/openapi/openapi-types.ts'
import { shippedCatalogue } from '../core/shipped-catalogue.ts'
import { captureLog } from '../middleware/api-exchange.ts'
import { committedSchema, eventData, nameOf } from './documented-answer.ts'
import { parserOf } from './request-bodies.ts'

const document = openapiDocument()

afterEach(() => {
  jest.restoreAllMocks()
})

function operationOf({ method, path }: Pick<Route, 'method' | 'path'>): OperationObject {
  const operation = document.paths[path]?.[method.toLowerCase()]
  if (operation === undefined) {
    throw new TypeError(`${method} ${path} is not in the document`)
  }
  return operation
}

describe('the OpenAPI document', () => {
  it('has the operations of ROUTES and no other', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(documented.toSorted()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  it.each<Route>([...ROUTES])('declares every status of $operation, and one answer for all others', (route) => {
    const statuses = declaredStatuses(route).map(String)
    expect(Object.keys(operationOf(route).responses).toSorted()).toEqual([...statuses, 'default'].toSorted())
  })

  it.each<Route>([...ROUTES])('asks for a key for $operation unless it needs none, and so do its statuses', (route) => {
    expect(operationOf(route).security).toEqual(route.auth === 'none' ? [] : undefined)
    expect(route.errorStatuses.includes(401)).toBe(route.auth === 'key')
  })

  it.each<Route>([...ROUTES])('names every path parameter of $operation', (route) => {
    const named = (operationOf(route).parameters ?? []).filter((parameter) => parameter.in === 'path')
    expect(named.map(({ name }) => `{${name}}`)).toEqual(route.path.match(/\{\w+\}/g) ?? [])
  })

  it.each<Route>([...ROUTES])('names every query parameter of $operation, and its strict handling', (route) => {
    const parameters = operationOf(route).parameters ?? []
    const named = parameters.filter((parameter) => parameter.in === 'query')
    expect(named.map(({ name }) => name)).toEqual(route.query)
    expect(parameters.map(({ name }) => name)).toContain('Prefer')
    expect(route.errorStatuses).toContain(400)
  })

  it('refers to nothing that is not there', () => {
    const text = JSON.stringify(document)
    const references = new Set([...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].map(([all]) => all))
    for (const reference of references) {
      const [, kind = '', name = ''] = /components\/(\w+)\/([^"]+)/.exec(reference) ?? []
      expect(Object.keys(Object(document.components)[kind])).toContain(name)
    }
    expect(references.size).toBeGreaterThan(40)
  })

  it('has no default in a named schema, because client generators would require such a field', () => {
    const withDefault = Object.entries(document.components.schemas).filter(([, schema]) =>
      JSON.stringify(schema).includes('"default":'),
    )
    expect(withDefault.map(([name]) => name)).toEqual([])
    const video = operationOf(ROUTES[0]).requestBody?.content['application/json']?.schema
    expect(video).toMatchObject({ title: 'CreateVideoJobRequest', properties: { duration: { default: 5 } } })
  })

  it('names one server, whose address ends without a slash: clients append paths to it', () => {
    expect(document.servers.map(({ url }) => url)).toEqual(['http://127.0.0.1:8787'])
  })

  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(VERSION).toBe(version)
    expect(document.info.version).toBe(version)
  })
})

describe('an example of the document', () => {
  const operations = ROUTES.map((route) => operationOf(route))
  const requests = operations.flatMap(({ operationId, requestBody }) =>
    Object.entries(requestBody?.content['application/json']?.examples ?? {}).map(
      ([name, { value }]) => [operationId, name, value] as const,
    ),
  )

  it('exists of every body that a client sends', () => {
    const withBody = operations
      .filter(({ requestBody }) => requestBody !== undefined)
      .map(({ operationId }) => operationId)
    expect([...new Set(requests.map(([operationId]) => operationId))]).toEqual(withBody)
  })

  it.each(requests)(
    'for %s (%s) is a request that the gateway accepts, and fits its schema',
    (operationId, _, value) => {
      const operation = operations.find((each) => each.operationId === operationId)
      const schema = nameOf(operation?.requestBody?.content['application/json']?.schema)
      const parse = parserOf(schema)
      expect(() => parse(value)).not.toThrow()
      expect(committedSchema(schema).safeParse(value).error).toBeUndefined()
    },
  )

  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap((response) =>
      Object.entries(('content' in response && response.content) || {}).flatMap(([type, { schema, examples = {} }]) =>
        Object.entries(examples).map(
          ([name, { value }]) =>
            [operationId, name, type === 'text/event-stream' ? schema.contentSchema : schema, value] as const,
        ),
      ),
    ),
  )

  it.each(answers)('of a response of %s (%s) fits its schema', (_operationId, _name, schema, value) => {
    const bodies = typeof value === 'string' ? eventData(value) : [value]
    expect(bodies.length).toBeGreaterThan(0)
    for (const body of bodies) {
      expect(committedSchema(nameOf(schema)).safeParse(body).error).toBeUndefined()
    }
  })

  it('exists for the responses of every operation except this document', () => {
    const shown = new Set(answers.map(([operationId]) => operationId))
    expect(operations.map(({ operationId }) => operationId).filter((id) => !shown.has(id))).toEqual([
      'getOpenapiDocument',
    ])
  })
})

function strictRefusal(field: string): unknown {
  try {
    refuseIgnored({ fields: [field], query: [], headers: [] })
  } catch (error) {
    return error
  }
  throw new TypeError(`${field} was accepted`)
}

function keyMissing(): unknown {
  try {
    return presentedKey({ path: '/v1/chat/completions', headerLines: () => [] })
  } catch (error) {
    return error
  }
}

const EMBEDDING = 'text-embedding-3-small'
const offered = { catalogue: shippedCatalogue, allowedModels: null }

const tokenExpired = new InvalidTokenError('it has expired (exp)')

/** The error of each response of the document, where it is one of ours. */
const THROWN: Readonly<Record<string, readonly unknown[]>> = {
  VideoBadRequest: [
    new errors.InvalidRequestError([
      { path: 'duration', message: '`duration` must be from 3 to 10 seconds for famA-1-pro' },
    ]),
    strictRefusal('durration'),
  ],
  VideoUnauthorized: [new errors.InvalidApiKeyError(), keyMissing(), tokenExpired],
  VideoForbidden: [new NoIdentityRuleError()],
  VideoPaymentRequired: [
    new errors.InsufficientQuotaError('video generation', {
      needed: parseCredits('0.7'),
      available: parseCredits('0.69'),
    }),
    new BudgetExceededError({
      of: 'api key',
      needed: parseCredits('0.7'),
      left: parseCredits('0.2'),
      period: { kind: 'day', id: '2026-11-22' },
    }),
  ],
  VideoNotFound: [new errors.VideoJobNotFoundError()],
  VideoConflict: [
    new errors.IdempotencyKeyReusedError(),
    new VideoJobConflictError('the job has ended: there is nothing to cancel'),
    new VideoJobConflictError('the job has not ended: its callback is sent when it ends'),
  ],
  VideoContentTooLarge: [new errors.RequestBodyTooLargeError(BODY_BYTES_MAX)],
  VideoTooManyRequests: [
    new errors.KeyRateExceededError(3, requestRate(RATE_PER_MINUTE_DEFAULT)),
    new errors.TooManyOpenJobsError(),
    new TooManyEventStreamsError(),
  ],
  VideoInternalError: [new Error('unexpected')],
  VideoServiceUnavailable: [new errors.ServiceUnavailableError()],
  BadRequest: [
    new errors.InvalidRequestError([{ path: 'temperature', message: '`temperature` must be a number from 0 to 2' }]),
    strictRefusal('max_tokns'),
    new errors.InvalidRequestError([{ path: 'to', message: '`to` must be a day in UTC, such as 2026-11-01' }]),
  ],
  Unauthorized: [new errors.InvalidApiKeyError(), keyMissing(), tokenExpired],
  Forbidden: [new NoIdentityRuleError()],
  PaymentRequired: [
    new errors.InsufficientQuotaError('request', {
      needed: parseCredits('0.009842'),
      available: parseCredits('0.004'),
      advice: 'set max_tokens to at most 6648',
    }),
    new BudgetExceededError({
      of: 'api key',
      needed: parseCredits('0.009842'),
      left: parseCredits('0.004'),
      period: { kind: 'month', id: '2026-11' },
      advice: 'set max_tokens to at most 6648',
    }),
  ],
  NotFound: [
    new errors.ModelNotFoundError('nothing'),
    new errors.ModelNotFoundError(EMBEDDING, { message: otherKindMessage(EMBEDDING, 'chat', offered) }),
  ],
  ContentTooLarge: [new errors.RequestBodyTooLargeError(BODY_BYTES_MAX)],
  TooManyRequests: [
    new errors.KeyRateExceededError(3, requestRate(RATE_PER_MINUTE_DEFAULT)),
    new errors.RateLimitedError(1),
  ],
  InternalError: [new Error('unexpected')],
  BadGateway: [new errors.UpstreamFailedError()],
  ServiceUnavailable: [new errors.NoChannelAvailableError(1), new errors.ServiceUnavailableError()],
  GatewayTimeout: [new errors.UpstreamTimeoutError()],
}

describe('an error of the document', () => {
  const own = Object.entries(document.components.responses).filter(([name]) => !/^(Platform|Other)Error$/.test(name))

  it.each(own)('%s is in every example the response of the gateway, headers included', (name, response) => {
    const path = name.startsWith('Video')
      ? '/v1/video/generations'
      : name.startsWith('Messages')
        ? '/v1/messages'
        : '/v1/chat/completions'
    captureLog()
    const answered = (THROWN[name.replace(/^Messages/, '')] ?? []).map((error) =>
      errorResult(error, { path, requestId: 'r' }),
    )
    const examples = Object.values(response.content?.['application/json']?.examples ?? {}).map(({ value }) => value)
    expect(examples).toEqual(answered.map(({ body }) => JSON.parse(body)))
    const said = Object.keys(response.headers ?? {}).map((header) => header.toLowerCase())
    for (const { headers = {} } of answered) {
      expect(said).toEqual(expect.arrayContaining(Object.keys(headers).filter((header) => header !== 'content-type')))
    }
  })
})
