import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { REPOSITORY, withoutRunner } from '../../e2e/child-environment.ts'
import { createSelfSignedCertificate, type Loopback, listenHttp, listenTcp } from '../../platform/http/loopback.ts'
import type { WaysOutInput } from './ways-out.ts'

const run = promisify(execFile)

/** Everything that some HTTP client takes for an order to use a proxy. */
const PROXY_NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']

let plain: Loopback
let proxy: Loopback
let visited: (string | undefined)[]
/** What reached the proxy. */
let noticed: string[]
let origins: string[]
let certificateFile: string
let stopTls: () => void

beforeAll(async () => {
  plain = await listenHttp((request, response) => {
    visited.push(request.url)
    response.end('answer')
  })
  proxy = await listenTcp((socket) => {
    socket.on('data', (bytes) => {
      noticed.push(bytes.toString('latin1'))
      socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
    })
  })
  const { key, cert } = createSelfSignedCertificate('localhost')
  certificateFile = join(mkdtempSync(join(tmpdir(), 'reelgate-proxy-')), 'certificate.pem')
  writeFileSync(certificateFile, cert)
  const tls = createHttpsServer({ key, cert }, (request, response) => {
    visited.push(request.url)
    response.end('answer')
  }).listen(0, '127.0.0.1')
  await once(tls, 'listening')
  const address = tls.address()
  const tlsPort = typeof address === 'object' && address !== null ? address.port : 0
  stopTls = () => {
    tls.close()
    tls.closeAllConnections()
  }
  origins = [plain.origin, `https://localhost:${tlsPort}`]
})
beforeEach(() => {
  visited = []
  noticed = []
})
afterAll(async () => {
  stopTls()
  await Promise.all([plain.stop(), proxy.stop()])
})

/** A process whose environment names the proxy in every way, and which trusts the certificate of the test. */
async function inProxyEnvironment(by: WaysOutInput['by']): Promise<unknown> {
  const { NO_PROXY: _, no_proxy: __, ...environment } = withoutRunner()
  const input = JSON.stringify({ origins, by } satisfies WaysOutInput)
  const { stdout } = await run(process.execPath, ['test/upstream/guard/ways-out.ts', input], {
    cwd: REPOSITORY,
    env: {
      ...environment,
      ...Object.fromEntries(PROXY_NAMES.map((name) => [name, proxy.origin])),
      NODE_USE_ENV_PROXY: '1',
      NODE_EXTRA_CA_CERTS: certificateFile,
    },
  })
  return JSON.parse(stdout)
}

describe('a proxy that the environment names', () => {
  it('is not used for callbacks, downloads and upstream calls, over http and https', async () => {
    const direct = ['delivered', 'answer', 'response', 'response']
    expect(await inProxyEnvironment('gateway')).toStrictEqual([direct, direct])
    expect(visited.toSorted()).toStrictEqual(
      ['/callback', '/download', '/poll', '/submit'].flatMap((path) => [path, path]),
    )
    expect(noticed).toStrictEqual([])
    expect(proxy.sockets).toHaveLength(0)
  })

  it('would be noticed: the platform itself goes through it', async () => {
    expect(await inProxyEnvironment('fetch')).toStrictEqual(['failed', 'failed'])
    expect(noticed.map((text) => text.split(' ')[0])).toStrictEqual(['CONNECT', 'CONNECT'])
    expect(visited).toStrictEqual([])
  })
})
