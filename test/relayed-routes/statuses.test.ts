import { describe, expect, it } from '@jest/globals'
import { errorShapeOf } from '#core/api/paths.ts'
import { type RelayRig, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { BILLED, errorIn, RELAYED, type RelayedRoute } from '../engines/relayed-samples.ts'
import { useOpened } from '../engines/use-opened.ts'

const rig = useOpened(() => startRelayRig({ channel: { timeouts: { first_byte_seconds: 1.5 } } }))

type Send = (route: RelayedRoute) => ReturnType<RelayRig['send']>

function upstreamAnswers(answer: Parameters<RelayRig['upstreams'][number]['answerWith']>[0]) {
  rig.upstreams[0]?.answerWith(answer)
}

const sendGood: Send = ({ body, operation }) => rig.send(body, { operation })

type Case = { readonly code: string | null; readonly headers?: object; readonly send: Send }

/** How each status comes about, and the code and the headers that clients read. */
const CASES: Readonly<Record<number, Case>> = {
  200: {
    code: null,
    send: (route) => {
      upstreamAnswers((response) => sendJson(response, route.reply))
      return sendGood(route)
    },
  },
  400: { code: null, send: ({ body, operation }) => rig.send({ ...body, model: 7 }, { operation }) },
  401: { code: 'invalid_api_key', send: ({ body, operation }) => rig.send(body, { operation, key: 'nobody' }) },
  404: {
    code: 'model_not_found',
    send: ({ body, operation }) => rig.send({ ...body, model: 'nothing' }, { operation }),
  },
  413: {
    code: 'request_body_too_large',
    send: ({ body, operation }) => rig.send({ ...body, more: 'x'.repeat(5 * 1024 * 1024) }, { operation }),
  },
}

/** Those of billed routes alone. */
const BILLED_CASES: Readonly<Record<number, Case>> = {
  402: {
    code: 'insufficient_quota',
    send: async ({ body, operation }) => {
      const { key } = await rig.tenant('0')
      return await rig.send(body, { operation, key })
    },
  },
  429: {
    code: 'upstream_rate_limited',
    headers: { 'retry-after': '1' },
    send: (route) => {
      upstreamAnswers((response) => sendJson(response, '{}', 429))
      return sendGood(route)
    },
  },
  502: {
    code: 'upstream_unavailable',
    send: (route) => {
      upstreamAnswers((response) => sendJson(response, '{}', 500))
      return sendGood(route)
    },
  },
  503: {
    code: 'no_channel_available',
    headers: { 'retry-after': '1' },
    send: ({ body, operation, unserved }) => rig.send({ ...body, model: unserved }, { operation }),
  },
  504: {
    code: 'upstream_timeout',
    // A second try could be billed twice.
    headers: { 'x-should-retry': 'false' },
    send: (route) => {
      upstreamAnswers(() => undefined)
      return sendGood(route)
    },
  },
}

const casesOf = (routes: readonly RelayedRoute[], cases: Readonly<Record<number, Case>>) =>
  routes.flatMap((route) =>
    Object.entries(cases).map(([status, made]) => ({
      operation: route.operation,
      status: Number(status),
      route,
      ...made,
    })),
  )

describe('a relayed route', () => {
  it.each([...casesOf(RELAYED, CASES), ...casesOf(BILLED, BILLED_CASES)])(
    '$operation responds $status in the shape that SDKs read, with its request id',
    async ({ route, status, code, headers = {}, send }) => {
      const { statusCode, text, ...answered } = await send(route)
      expect(statusCode).toBe(status)
      expect(answered.headers).toMatchObject({
        ...headers,
        ...(errorShapeOf(route.path) === 'messages' ? { 'request-id': answered.headers['x-request-id'] } : {}),
        'content-type': 'application/json',
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'openai-processing-ms': expect.stringMatching(/^\d+$/),
        'x-content-type-options': 'nosniff',
      })
      if (status !== 200) {
        const param = status === 400 || status === 404 ? 'model' : null
        expect(JSON.parse(text)).toStrictEqual(
          errorIn(route, { message: expect.any(String), type: expect.any(String), param, code }),
        )
      }
    },
  )
})
