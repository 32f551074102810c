import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY, withoutRunner } from '../../e2e/child-environment.ts'
import type { PostResults } from '../../relay/post-from-child.ts'
import { httpAnswer, type RawUpstream, startRawUpstream } from '../../relay/raw-upstream.ts'
import { createSelfSignedCertificate, type Loopback, listenTcp } from './loopback.ts'

const run = promisify(execFile)

let proxy: Loopback
let plain: RawUpstream
let tls: { readonly origin: string; readonly sockets: Socket[]; readonly stop: () => void }
let certificateFile: string

beforeAll(async () => {
  proxy = await listenTcp((socket) => socket.end(httpAnswer(502)))
  plain = await startRawUpstream(({ socket, index }) => socket.write(httpAnswer(200, `plain ${index}`)))
  const certificate = createSelfSignedCertificate('localhost')
  certificateFile = join(mkdtempSync(join(tmpdir(), 'reelgate-tls-')), 'certificate.pem')
  writeFileSync(certificateFile, certificate.cert)
  const sockets: Socket[] = []
  let requests = 0
  const server = createServer(certificate, (request, response) => {
    requests += 1
    // The second request finds its connection closed, like one that was idle for too long.
    if (requests === 2) {
      request.socket.destroy()
    } else {
      response.end(`tls ${requests}`)
    }
  })
  server.on('secureConnection', (socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = addressOf(server.address())
  tls = {
    origin: `https://localhost:${port}`,
    sockets,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
})
afterAll(async () => {
  tls.stop()
  await Promise.all([proxy.stop(), plain.stop()])
})

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') {
    throw new TypeError('the server does not listen on a port')
  }
  return address
}

/** Every name that some HTTP client takes for an order to use a proxy. */
const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']

async function postIn(environment: NodeJS.ProcessEnv, ...origins: string[]): Promise<PostResults> {
  const { NO_PROXY: _, no_proxy: __, ...rest } = withoutRunner()
  const { stdout } = await run(process.execPath, ['test/relay/post-from-child.ts', ...origins], {
    cwd: REPOSITORY,
    env: { ...rest, ...environment },
  })
  return JSON.parse(stdout)
}

describe('whatever the environment says', () => {
  it('posts go past its proxies, and a closed connection of the pool is replaced with TLS too', async () => {
    const proxies = Object.fromEntries(PROXY_NAMES.map((name) => [name, proxy.origin]))
    const environment = { ...proxies, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: certificateFile }
    expect(await postIn(environment, plain.origin, tls.origin)).toStrictEqual([
      ['plain 1', 'plain 2'],
      ['tls 1', 'tls 3'],
    ])
    expect(proxy.sockets).toHaveLength(0)
    expect(tls.sockets).toHaveLength(2)
  })

  it('a certificate that nobody signed gets no request', async () => {
    const before = tls.sockets.length
    const refusal = 'DEPTH_ZERO_SELF_SIGNED_CERT'
    expect(await postIn({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, tls.origin)).toStrictEqual([[refusal, refusal]])
    expect(tls.sockets.slice(before).every((socket) => socket.bytesRead === 0)).toBe(true)
  })
})
