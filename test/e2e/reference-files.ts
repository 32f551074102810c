import { readFileSync } from 'node:fs'
import { listenHttp } from '../adapters/outbound/loopback.ts'
import { pngFile } from '../core/media-files.ts'

const size = { width: 640, height: 480 }
const FILES: Readonly<Record<string, Buffer>> = {
  '/a.png': pngFile(size),
  '/b.png': pngFile(size),
  '/flat.png': pngFile({ width: 900, height: 300 }),
  '/a.mp4': readFileSync(new URL('../../lib/simulators/clips/16x9-03s.mp4', import.meta.url)),
}

/** A client's storage, which answers ranges and notes them. */
export async function startReferenceFiles() {
  const ranges: string[] = []
  const server = await listenHttp(({ url = '', headers: { range = '' } }, response) => {
    const file = FILES[new URL(url, 'http://files').pathname] ?? Buffer.alloc(0)
    const [, start = 0, end = 0] = /^bytes=(\d+)-(\d+)$/.exec(range)?.map(Number) ?? []
    const last = Math.min(end, file.length - 1)
    ranges.push(`${url} ${range}`)
    const headers = { 'content-range': `bytes ${start}-${last}/${file.length}` }
    response.writeHead(206, headers).end(file.subarray(start, last + 1))
  })
  return { origin: server.origin, ranges, close: server.stop }
}
