/** The body of an upstream's answer, which a test writes piece by piece. */
export class FakeBody implements AsyncIterableIterator<Buffer> {
  isDestroyed = false
  readonly #pieces: (string | Error | undefined)[] = []
  #wake = Promise.withResolvers<void>()

  write(...pieces: readonly string[]): void {
    this.#push(...pieces)
  }

  end(...pieces: readonly string[]): void {
    this.#push(...pieces, undefined)
  }

  breakOff(): void {
    this.#push(new Error('connection reset'))
  }

  async next(): Promise<IteratorResult<Buffer>> {
    for (;;) {
      if (this.isDestroyed) {
        throw new Error('destroyed')
      }
      if (this.#pieces.length > 0) {
        return this.#take()
      }
      await this.#wake.promise
    }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.destroy()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  destroy(): void {
    this.isDestroyed = true
    this.#wake.resolve()
  }

  #push(...pieces: readonly (string | Error | undefined)[]): void {
    this.#pieces.push(...pieces)
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  #take(): IteratorResult<Buffer> {
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
