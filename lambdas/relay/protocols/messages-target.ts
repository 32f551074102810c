import type { ApiPlace } from '#core/catalogue/apis.ts'
import type { ChatModel } from '#core/catalogue/model.ts'
import type { ClientRequest, UpstreamRequest } from '../relay-protocol.ts'

/** Version of the Anthropic API for a client that names none. */
const VERSION_DEFAULT = '2023-06-01'

/** Visible ASCII, blanks and commas: anything else would break the request to the upstream. */
const HEADER_VALUE = /^[\x20-\x7e]{1,2048}$/

/** More context than this comes with a higher price for all of the prompt. */
const LONG_CONTEXT_TOKENS = 1_000_000
const LONG_CONTEXT = /^context-1m/

/** Where an upstream with this API gets a request, and the headers that it reads. */
export function messagesTarget(
  { path, base_url: baseUrl }: ApiPlace,
  { header }: Pick<ClientRequest, 'header'>,
  { model }: { readonly model: Pick<ChatModel, 'context_tokens'> },
): Omit<UpstreamRequest, 'text' | 'ignored'> {
  const version = header('anthropic-version')
  const betas = (header('anthropic-beta') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !(LONG_CONTEXT.test(name) && model.context_tokens < LONG_CONTEXT_TOKENS))
    .join(',')
  return {
    path,
    baseUrl,
    keyHeader: 'x-api-key',
    headers: {
      'anthropic-version': version !== undefined && HEADER_VALUE.test(version) ? version : VERSION_DEFAULT,
      ...(HEADER_VALUE.test(betas) ? { 'anthropic-beta': betas } : {}),
    },
  }
}
