import { type ErrorForm, OPENAI_ERRORS } from '#core/api/error-form.ts'
import { type ClientResponse, ResponseHeaders } from '#lambdas/relay/client-response.ts'
import { RelayExchange } from '#lambdas/relay/relay-exchange.ts'
import { receivedRequest } from '#middleware/api-event.ts'
import type { Caller } from '#store/callers.ts'
import { apiEvent } from '../middleware/api-exchange.ts'
import { FakeResponse } from './fake-response.ts'

const CALLER: Caller = { tenantId: 'acme', keyId: 'key', keyDigest: 'digest', models: null }

type Faked = {
  readonly operation?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly response?: ClientResponse
  readonly errors?: ErrorForm
  readonly tenantId?: string
}

/** The exchange `request-1` of a caller, of the tenant `acme` unless said otherwise, after its key and its body were read. */
export function fakeExchange(faked: Faked = {}): RelayExchange {
  const { operation = 'create-chat-completion', json = {}, headers = {}, response = new FakeResponse() } = faked
  const requestId = 'request-1'
  const text = JSON.stringify(json)
  const request = receivedRequest(apiEvent({ path: '/v1/chat/completions', headers, body: text }))
  const exchange = new RelayExchange({
    operation,
    errors: faked.errors ?? OPENAI_ERRORS,
    request,
    requestId,
    headers: new ResponseHeaders(requestId),
    response,
  })
  const caller = { ...CALLER, tenantId: faked.tenantId ?? CALLER.tenantId }
  exchange.authenticated(caller, { read: async () => caller, isCurrent: true })
  exchange.parsed({ text, bytes: Buffer.byteLength(text), json })
  return exchange
}
