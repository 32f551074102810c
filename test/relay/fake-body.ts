import { type BodyEnd, type ResponseBody, ResponseBrokenError } from '#platform/http/response-body.ts'

/** The body of an upstream's reply, which a test writes piece by piece. */
export class FakeBody implements Pick<ResponseBody, keyof ResponseBody> {
  isDestroyed = false
  #end: BodyEnd | undefined
  #onEnd: ((end: BodyEnd, reason: string) => void) | undefined
  readonly #pieces: (string | Error | undefined)[] = []
  #wake = Promise.withResolvers<void>()

  write(...pieces: readonly string[]): void {
    this.#push(...pieces)
  }

  end(...pieces: readonly string[]): void {
    this.#push(...pieces, undefined)
    this.#finish('whole')
  }

  breakOff(): void {
    this.#push(new ResponseBrokenError('connection reset'))
    this.#finish('broken')
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  onceOver(how: (end: BodyEnd, reason: string) => void): void {
    this.#onEnd = how
    if (this.#end !== undefined) {
      how(this.#end, 'connection reset')
    }
  }

  async peek(): Promise<Buffer> {
    if (this.#pieces.length === 0) {
      await this.#wake.promise
    }
    return Buffer.from(this.#pieces.filter((piece) => typeof piece === 'string').join(''))
  }

  /** Pieces that nobody has taken. */
  get unread(): number {
    return this.#pieces.length
  }

  fail(): void {
    this.breakOff()
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      if (this.isDestroyed) {
        throw new ResponseBrokenError('given up')
      }
      if (this.#pieces.length > 0) {
        return this.#take()
      }
      await this.#wake.promise
    }
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.destroy()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  destroy(): void {
    this.isDestroyed = true
    this.#finish('destroyed')
    this.#wake.resolve()
  }

  #finish(end: BodyEnd): void {
    if (this.#end === undefined) {
      this.#end = end
      this.#onEnd?.(end, 'connection reset')
    }
  }

  #push(...pieces: readonly (string | Error | undefined)[]): void {
    this.#pieces.push(...pieces)
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  #take(): IteratorResult<Buffer, undefined> {
    const piece = this.#pieces[0]
    if (piece instanceof Error) {
      throw piece
    }
    if (piece === undefined) {
      return { done: true, value: undefined }
    }
    this.#pieces.shift()
    return { done: false, value: Buffer.from(piece) }
  }
}
