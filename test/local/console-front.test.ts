import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createConsoleFront, isConsoleRequest } from '#local/console-front.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'

let directory: string
let server: HttpServer
let url: string
let build: () => Promise<string>
let builds = 0
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-console-'))
  mkdirSync(join(directory, 'build/assets'), { recursive: true })
  writeFileSync(join(directory, 'secret.html'), 'secret')
  writeFileSync(join(directory, 'build/index.html'), 'page')
  writeFileSync(join(directory, 'build/assets/index-1.js'), 'script')
  server = await listen((request, response) => {
    const front = createConsoleFront({ directory: () => build(), videoOrigin: () => `http://127.0.0.1:${server.port}` })
    kept ??= front
    void kept(request, response)
  }, 0)
  url = `http://127.0.0.1:${server.port}`
})
let kept: ReturnType<typeof createConsoleFront> | undefined
beforeEach(() => {
  kept = undefined
  builds = 0
  build = async () => {
    builds += 1
    return join(directory, 'build')
  }
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

/** The path goes over the wire as it is; `fetch` would resolve its dots. */
function statusOf(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(server.port, '127.0.0.1').setEncoding('latin1')
    socket.on('data', (data) => {
      received += data
    })
    socket.on('error', reject).on('close', () => resolve(received))
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: close\r\n\r\n`)
  })
}

describe('createConsoleFront', () => {
  it('sends the page for every path that is no asset, never to be stored, with its policy', async () => {
    for (const path of ['/console', '/console/', '/console/videos/video_1?tenant=demo', '/console/a.b']) {
      const response = await fetch(url + path)
      expect([response.status, await response.text()]).toEqual([200, 'page'])
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
    expect(builds).toBe(1)
  })

  it('sends assets to be kept, and 404 for one that does not exist', async () => {
    const response = await fetch(`${url}/console/assets/index-1.js`)
    expect(await response.text()).toBe('script')
    expect(response.headers.get('cache-control')).toContain('immutable')
    const absent = await fetch(`${url}/console/assets/index-2.js`)
    expect([absent.status, absent.headers.get('cache-control')]).toEqual([404, 'no-store'])
  })

  it.each([
    '/console/assets/../../secret.html',
    '/console/assets/..%2f..%2fsecret.html',
    '/console/%2e%2e/secret.html',
  ])('reads no file outside the build: %s', async (path) => {
    const received = await statusOf(path)
    expect(received).not.toContain('secret')
    expect(received).toMatch(/^HTTP\/1\.1 (404|200) /)
  })

  it('names the origin of videos where the page was opened by another name of this machine', async () => {
    const own = await fetch(`${url}/console`)
    expect(own.headers.get('content-security-policy')).not.toContain('http:')
    const other = await fetch(`http://localhost:${server.port}/console`)
    expect(other.headers.get('content-security-policy')).toContain(`media-src 'self' blob: ${url};`)
  })

  it('answers HEAD without a body and refuses every other method', async () => {
    const head = await fetch(`${url}/console`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '4', ''])
    const post = await fetch(`${url}/console`, { method: 'POST' })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('says why it could not be built, and builds again at the next request', async () => {
    const works = build
    build = () => Promise.reject(new Error('no vite'))
    const failed = await fetch(`${url}/console`)
    expect([failed.status, await failed.text()]).toEqual([503, 'The console could not be built: no vite\n'])
    build = works
    expect((await fetch(`${url}/console`)).status).toBe(200)
  })

  it('takes requests for the console alone', () => {
    expect(['/console', '/console/', '/console?a=1', '/console/x'].map(isConsoleRequest)).toEqual(Array(4).fill(true))
    expect(['/', '/consoles', '/v1/console', '/admin/v1/session'].map(isConsoleRequest)).toEqual(Array(4).fill(false))
  })
})
