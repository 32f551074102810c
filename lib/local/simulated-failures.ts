import { IncomingMessage, type ServerResponse } from 'node:http'
import { MODEL_ENDPOINTS, type ModelEndpoint } from '#core/api/paths.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { isJsonObject } from '#core/json/parse-json-text.ts'
import { closeInStages, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import { REQUEST_BYTES_MAX, readBody, refusalOf } from '#platform/http-server/request-bodies.ts'
import { OPENAI_WORD_FORMS, parseOpenAiMagic } from '../simulators/openai-magic-words.ts'
import { hasMagicWord, VIDEO_WORD_FORMS } from '../simulators/video-magic-words.ts'

/** Asks the simulated upstream for a failure: words as in a prompt, such as `error:500` or `fail, slow:2`, with brackets or without. */
const HEADER = 'x-simulate'

type Body = Readonly<Record<string, unknown>>
type ServingChannels = readonly { readonly id: string; readonly models: Readonly<Record<string, unknown>> }[]

const routeAt = (path: string): ModelEndpoint | undefined =>
  Object.values<ModelEndpoint>(MODEL_ENDPOINTS).find((route) => route.path === path)

/** A request that cannot get the words; the message says what the header needs. */
class UnfitRequestError extends Error {}

function before(text: unknown, words: string): unknown {
  if (Array.isArray(text) && typeof text[0] === 'string') {
    return text.map((each) => before(each, words))
  }
  if (Array.isArray(text) && text.length > 0) {
    throw new UnfitRequestError('a prompt of text, because its words are put before it')
  }
  return typeof text === 'string' ? `${words} ${text}` : text
}

/** A real upstream would get the words. */
function refuseRealUpstreams({ model }: Body, realChannels: ServingChannels): void {
  const ids = realChannels.filter(({ models }) => Object.hasOwn(models, String(model))).map(({ id }) => id)
  if (ids.length > 0) {
    const real = `model ${String(model)} has a real one (${ids.join(', ')})`
    throw new UnfitRequestError(`upstreams that are simulated, and ${real}: start the host with --simulators`)
  }
}

/** The body with words before its prompt, for code that writes its own prompts and cannot say them there. */
function withWords(body: Body, { prompt, speaks }: ModelEndpoint, words: string): Body {
  const value = body[prompt]
  const isConversation = Array.isArray(value) && isJsonObject(value[0])
  const changed = isConversation ? beforeLastQuestion(value, words, speaks) : before(value, words)
  return { ...body, [prompt]: changed }
}

function beforeLastQuestion(messages: readonly unknown[], words: string, api: ModelEndpoint['speaks']): unknown {
  const type = api === 'responses' ? 'input_text' : 'text'
  const last = messages.findLastIndex((message) => Object(message).role === 'user')
  if (last === -1) {
    return [...messages, { role: 'user', content: words }]
  }
  return messages.map((message, index) => {
    const content: unknown = Object(message).content
    const parts = Array.isArray(content) ? [{ type, text: words }, ...content] : before(content, words)
    return index === last ? { ...Object(message), content: parts } : message
  })
}

/**
 * The request without its header `x-simulate`, whose words stand in the prompt then. Undefined after a refusal: of a word that no simulated
 * upstream knows on this route, or of the header where one of `realChannels` serves the model.
 */
export async function withSimulatedFailure(
  request: IncomingMessage,
  response: ServerResponse,
  { realChannels, requestId }: { readonly realChannels: ServingChannels; readonly requestId: string },
): Promise<IncomingMessage | undefined> {
  const asked = request.headers[HEADER]
  const [path = ''] = (request.url ?? '').split('?')
  const route = routeAt(path)
  // Clients may send the header with all requests, also those that poll.
  if (asked === undefined || request.method !== 'POST') {
    return request
  }
  if (route === undefined) {
    const paths = Object.values(MODEL_ENDPOINTS).map((each) => each.path)
    const message = `${HEADER} works on POST of ${paths.join(', ')}`
    return await refuse(response, { requestId, path, message })
  }
  const words = (String(asked).match(/\[[^\]]*\]|[^\s,]+/g) ?? []).map((word) => `[${word.replace(/^\[|\]$/g, '')}]`)
  if (words.length === 0) {
    const message = `${HEADER} is empty, so nothing would fail: send a word such as error:500, or leave the header out`
    return await refuse(response, { requestId, path, message })
  }
  const unknown = words.find((word) => !isKnown(word, path))
  if (unknown !== undefined) {
    const message = `${HEADER}: no simulated failure ${unknown} on this route; allowed: ${allowedFor(unknown, path)}`
    return await refuse(response, { requestId, path, message })
  }
  try {
    const body = await readBody(request, REQUEST_BYTES_MAX)
    return repeated(
      request,
      changed(body, (json) => {
        refuseRealUpstreams(json, realChannels)
        return withWords(json, route, words.join(' '))
      }),
    )
  } catch (error) {
    if (error instanceof UnfitRequestError) {
      return await refuse(response, { requestId, path, message: `${HEADER} needs ${error.message}` })
    }
    sendGatewayError(response, requestId, refusalOf(error))
    return undefined
  }
}

type Refusal = { readonly requestId: string; readonly path: string; readonly message: string }

/** In the shape of the route. Loaded late, because the log has its level from an environment that is not complete at the start. */
async function refuse(response: ServerResponse, { requestId, path, message }: Refusal): Promise<undefined> {
  const { errorResult } = await import('#middleware/responses.ts')
  const error = new InvalidRequestError([{ path: HEADER, message }])
  const { statusCode, headers, body } = errorResult(error, { path, requestId })
  closeInStages(response)
  response.writeHead(statusCode, { ...headers, 'x-request-id': requestId, connection: 'close' }).end(body)
}

/** The forms of the word that was meant, if it is one, else all of them. */
function allowedFor(word: string, path: string): string {
  const forms = path === MODEL_ENDPOINTS.videos.path ? VIDEO_WORD_FORMS : OPENAI_WORD_FORMS
  const name = (form: string) => /[a-z-]+/.exec(form)?.[0]
  const own = forms.filter((form) => name(form) === name(word))
  return (own.length === 0 ? forms : own).join(', ').replace(':STATUS', ':STATUS (400 to 599)')
}

/** A misspelt word, or one with a wrong argument, would be prose, and the test that asked for a failure would see a success. */
function isKnown(word: string, path: string): boolean {
  return path === MODEL_ENDPOINTS.videos.path ? hasMagicWord(word) : parseOpenAiMagic(word).prose === ''
}

/** A body that is no JSON is left to the gateway's own refusal. */
function changed(bytes: Buffer, change: (body: Body) => Body): Buffer {
  let body: Body
  try {
    body = Object(JSON.parse(bytes.toString('utf8')))
  } catch {
    return bytes
  }
  return Buffer.from(JSON.stringify(change(body)))
}

const REPLACED: readonly string[] = [HEADER, 'content-length', 'transfer-encoding', 'expect']

/** A request that was read, with another body. Node keeps its headers in three forms. */
function repeated(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, httpVersion, httpVersionMajor, httpVersionMinor } = request
  const length = String(body.length)
  const rawHeaders = request.rawHeaders.flatMap((name, index, all) =>
    index % 2 === 1 || REPLACED.includes(name.toLowerCase()) ? [] : [name, all[index + 1] ?? ''],
  )
  const copy = new IncomingMessage(request.socket)
  Object.assign(copy, {
    ...{ method, url, httpVersion, httpVersionMajor, httpVersionMinor, complete: true },
    rawHeaders: [...rawHeaders, 'content-length', length],
    headers: { ...kept(request.headers), 'content-length': length },
    headersDistinct: { ...kept(request.headersDistinct), 'content-length': [length] },
  })
  copy.push(body)
  copy.push(null)
  return copy
}

function kept<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !REPLACED.includes(name)))
}
