import { createServer } from 'node:http'

/** Everything behind the header: random enough, and the same every time. */
const FILLING = Buffer.alloc(1024 * 1024, 'a video that nobody will ever watch. ')

/** A movie of one minute: version 0, a thousand ticks a second, sixty thousand of them; the rest says nothing of interest. */
function movieBox(): Buffer {
  const header = Buffer.alloc(108)
  header.writeUInt32BE(header.length, 0)
  header.write('mvhd', 4, 'latin1')
  header.writeUInt32BE(1000, 20)
  header.writeUInt32BE(60_000, 24)
  return box('moov', header)
}

function box(type: string, content: Buffer): Buffer {
  return Buffer.concat([boxHeader(type, content.length), content])
}

function boxHeader(type: string, contentBytes: number): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt32BE(8 + contentBytes, 0)
  header.write(type, 4, 'latin1')
  return header
}

/** A whole MP4 file of so many bytes, in pieces: what a player needs first, media data behind it. */
function* videoOf(bytes: number): Generator<Buffer> {
  const start = Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0isommp41', 'latin1')), movieBox()])
  let left = bytes - start.length - 8
  yield Buffer.concat([start, boxHeader('mdat', left)])
  for (; left > 0; left -= FILLING.length) {
    yield left < FILLING.length ? FILLING.subarray(0, left) : FILLING
  }
}

/** `GET /<bytes>.mp4`: as fast as it is read. Runs in a process of its own and says its origin to its parent. */
const server = createServer((request, response) => {
  const bytes = Number(/^\/(\d+)\.mp4/.exec(request.url ?? '')?.[1])
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes })
  const pieces = videoOf(bytes)
  const send = () => {
    for (let piece = pieces.next(); !piece.done; piece = pieces.next()) {
      if (!response.write(piece.value)) {
        response.once('drain', send)
        return
      }
    }
    response.end()
  }
  send()
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '')
})
