import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ConsoleFile, consoleCacheControl, consoleHeaders, readConsoleFiles } from '../console/console-files.ts'

/** The console is served at this path and below it. */
const CONSOLE_PATH = '/console'

const ASSETS = `${CONSOLE_PATH}/assets/`

/** Whether a request is for the console. */
export function isConsoleRequest(url = '/'): boolean {
  const path = pathOf(url)
  return path === CONSOLE_PATH || path.startsWith(`${CONSOLE_PATH}/`)
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url
}

type ConsoleFrontOptions = {
  /** The folder of the build; called once, at the first request, and again after a failure. */
  readonly directory: () => Promise<string>
  /** The origin of signed urls. */
  readonly videoOrigin: () => string
}

/**
 * Serves the console. All files are in memory, so no path of a request reaches the disk. Every path below `/console` that is not an asset
 * gets the page, which reads its own path.
 */
export function createConsoleFront({ directory, videoOrigin }: ConsoleFrontOptions) {
  let loaded: Promise<ReadonlyMap<string, ConsoleFile>> | undefined
  const files = () => {
    loaded ??= directory().then(readConsoleFiles)
    return loaded
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request.url ?? '/')
    const own = `http://${request.headers.host ?? ''}`
    const headers = consoleHeaders({ videoOrigin: videoOrigin() === own ? undefined : videoOrigin(), isTls: false })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(response, 405, { ...headers, allow: 'GET, HEAD' }, 'use GET\n')
      return
    }
    const file = await files().then(
      (found) => found.get(path.startsWith(ASSETS) ? path.slice(CONSOLE_PATH.length + 1) : 'index.html'),
      (error: unknown) => {
        loaded = undefined
        return error instanceof Error ? error : new Error('the console could not be built')
      },
    )
    if (file instanceof Error) {
      send(response, 503, headers, `The console could not be built: ${file.message}\n`)
    } else if (file === undefined) {
      send(response, 404, headers, 'no such file\n')
    } else {
      const kept = { 'cache-control': consoleCacheControl(path), 'content-type': file.contentType }
      response.writeHead(200, { ...headers, ...kept, 'content-length': file.bytes.length })
      response.end(request.method === 'HEAD' ? undefined : file.bytes)
    }
  }
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, body: string): void {
  const plain = { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' }
  response.writeHead(status, { ...headers, ...plain, 'content-length': Buffer.byteLength(body) })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}
