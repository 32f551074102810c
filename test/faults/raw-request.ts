import { connect } from 'node:net'

type RawAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** A gateway that does not even hang up has failed. */
const RESPONSE_MILLISECONDS_MAX = 20_000

/**
 * Sends bytes that no HTTP client would send, and reads until the gateway hangs up. The request must ask for that
 * (`connection: close`) or give the gateway reason to.
 */
export async function rawRequest(url: string, ...pieces: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const chunks: Buffer[] = []
  const socket = connect(Number(port), hostname)
  socket.setTimeout(RESPONSE_MILLISECONDS_MAX, () => socket.destroy())
  socket.on('data', (chunk) => chunks.push(chunk))
  // A body that is refused half-way is answered with a reset behind the answer.
  socket.on('error', () => {})
  for (const piece of pieces) {
    socket.write(piece)
  }
  await new Promise((resolve) => socket.once('close', resolve))
  return parse(Buffer.concat(chunks).toString('latin1'))
}

function parse(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ')
    return [name.toLowerCase(), value.join(': ')]
  })
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), body }
}
