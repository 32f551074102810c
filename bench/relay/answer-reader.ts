/** The server sent something that is not one HTTP/1.1 answer with a length. */
class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError'
}

const HEAD_END = Buffer.from('\r\n\r\n')
const NEWLINE = 0x0a
const CHUNK_END_BYTES = 2

type Part = 'head' | 'counted body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'end'

/**
 * Reads one HTTP/1.1 answer off a kept connection, cut anywhere, and counts the bytes of its body without keeping them:
 * the load must cost little beside the servers that it measures.
 */
export class AnswerReader {
  #part: Part = 'head'
  #status = 0
  #bodyBytes = 0
  /** Bytes that are still to come of the body, the chunk or the line break behind it. */
  #left = 0
  /** A head or a line whose end has not come yet. */
  #kept: Buffer = Buffer.alloc(0)

  get status(): number {
    return this.#status
  }

  /** Of the body alone, chunk sizes left out. */
  get bodyBytes(): number {
    return this.#bodyBytes
  }

  get isEnded(): boolean {
    return this.#part === 'end'
  }

  /** Takes the next bytes. @throws MalformedAnswerError, also for bytes behind the answer. */
  push(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0) {
      rest = this.#step(rest)
    }
  }

  #step(bytes: Buffer): Buffer {
    switch (this.#part) {
      case 'head':
        return this.#readHead(bytes)
      case 'counted body':
        return this.#count(bytes, 'end')
      case 'chunk':
        return this.#count(bytes, 'chunk end')
      case 'chunk end':
        return this.#skip(bytes)
      case 'chunk size':
      case 'trailer':
        return this.#readLine(bytes)
      case 'end':
        throw new MalformedAnswerError('bytes behind the end of the answer')
      default:
        return this.#part satisfies never
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const head = this.#join(bytes)
    const end = head.indexOf(HEAD_END)
    if (end < 0) {
      this.#kept = head
      return Buffer.alloc(0)
    }
    const text = head.toString('latin1', 0, end).toLowerCase()
    this.#status = Number(text.slice(9, 12))
    if (text.includes('\r\ntransfer-encoding: chunked')) {
      this.#part = 'chunk size'
    } else {
      const length = /\r\ncontent-length: *(\d+)/.exec(text)?.[1]
      if (length === undefined) {
        throw new MalformedAnswerError('an answer without a length')
      }
      this.#left = Number(length)
      this.#part = this.#left === 0 ? 'end' : 'counted body'
    }
    return head.subarray(end + HEAD_END.length)
  }

  #count(bytes: Buffer, next: Part): Buffer {
    const taken = Math.min(this.#left, bytes.length)
    this.#left -= taken
    this.#bodyBytes += taken
    if (this.#left === 0) {
      this.#part = next
      this.#left = CHUNK_END_BYTES
    }
    return bytes.subarray(taken)
  }

  #skip(bytes: Buffer): Buffer {
    const taken = Math.min(this.#left, bytes.length)
    this.#left -= taken
    if (this.#left === 0) {
      this.#part = 'chunk size'
    }
    return bytes.subarray(taken)
  }

  /** A chunk of no bytes is the last; an empty line ends what follows it. */
  #readLine(bytes: Buffer): Buffer {
    const newline = bytes.indexOf(NEWLINE)
    if (newline < 0) {
      this.#kept = this.#join(bytes)
      return Buffer.alloc(0)
    }
    const line = this.#join(bytes.subarray(0, newline)).toString('latin1').trimEnd()
    if (this.#part === 'trailer') {
      this.#part = line === '' ? 'end' : 'trailer'
    } else {
      this.#left = chunkBytes(line)
      this.#part = this.#left === 0 ? 'trailer' : 'chunk'
    }
    return bytes.subarray(newline + 1)
  }

  #join(bytes: Buffer): Buffer {
    const joined = this.#kept.length === 0 ? bytes : Buffer.concat([this.#kept, bytes])
    this.#kept = Buffer.alloc(0)
    return joined
  }
}

function chunkBytes(line: string): number {
  if (!/^[0-9a-f]+(;|$)/i.test(line)) {
    throw new MalformedAnswerError('a chunk without a size')
  }
  return Number.parseInt(line, 16)
}
