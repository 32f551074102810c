/** Request headers that need no preflight, with the values that they may have (Fetch standard, "CORS-safelisted request-header"). */
const SAFE_REQUEST_HEADERS: Readonly<Record<string, RegExp>> = {
  accept: /./,
  'accept-language': /./,
  'content-language': /./,
  'content-type': /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\b/,
  range: /^bytes=\d+-\d*$/,
}
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])
/** Response headers that every script may read (Fetch standard, "CORS-safelisted response-header name"). */
const SAFE_RESPONSE_HEADERS: readonly string[] = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]

/** What a script gets where the server does not allow its origin, in place of the response. */
export class CrossOriginRefusedError extends TypeError {
  override readonly name = 'CrossOriginRefusedError'
}

/** `fetch` as a script of a page of this origin has it: with a preflight where one is due, and without what it may not read. */
export function browserFetch(origin: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const unsafe = unsafeHeaders(request.headers)
    if (unsafe.length > 0 || !SAFE_METHODS.has(request.method)) {
      await preflight(request, { origin, unsafe })
    }
    // A Request drops an Origin that a script sets, as a browser does; the second argument is the browser's own part.
    const response = await fetch(request, { headers: [...request.headers, ['origin', origin]] })
    refuseUnlessAllowed(response, origin)
    return readable(response)
  }
}

function unsafeHeaders(headers: Headers): string[] {
  return [...headers]
    .filter(([name, value]) => SAFE_REQUEST_HEADERS[name]?.test(value) !== true)
    .map(([name]) => name)
    .toSorted()
}

type Asking = { readonly origin: string; readonly unsafe: readonly string[] }

/** Without a key, whatever the request has. @throws CrossOriginRefusedError */
async function preflight({ url, method }: Request, { origin, unsafe }: Asking): Promise<void> {
  const response = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      accept: '*/*',
      origin,
      'access-control-request-method': method,
      ...(unsafe.length === 0 ? {} : { 'access-control-request-headers': unsafe.join(',') }),
    },
  })
  await response.arrayBuffer()
  refuseUnlessAllowed(response, origin)
  if (!response.ok) {
    throw new CrossOriginRefusedError(`the preflight got a ${response.status}`)
  }
  const methods = listOf(response, 'access-control-allow-methods')
  if (!(SAFE_METHODS.has(method) || methods.includes(method) || methods.includes('*'))) {
    throw new CrossOriginRefusedError(`the method ${method} is not allowed`)
  }
  const headers = listOf(response, 'access-control-allow-headers').map((name) => name.toLowerCase())
  const refused = unsafe.filter(
    (name) => !(headers.includes(name) || (headers.includes('*') && name !== 'authorization')),
  )
  if (refused.length > 0) {
    throw new CrossOriginRefusedError(`the headers ${refused.join()} are not allowed`)
  }
}

function listOf({ headers }: Response, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((each) => each.trim())
}

function refuseUnlessAllowed({ headers }: Response, origin: string): void {
  const allowed = headers.get('access-control-allow-origin')
  if (allowed !== '*' && allowed !== origin) {
    throw new CrossOriginRefusedError(`the allowed origin is ${allowed}`)
  }
}

function readable(response: Response): Response {
  const shown = [...SAFE_RESPONSE_HEADERS, ...listOf(response, 'access-control-expose-headers')]
  const names = new Set(shown.map((name) => name.toLowerCase()))
  const headers = [...response.headers].filter(([name]) => names.has(name))
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
