/** Places are below this, ranks below 2^21: both fit into one double, which compares by rank, then by place. */
const PLACES = 2 ** 32

/** A binary heap of pairs, lowest rank first, leftmost among equals. */
export class PairQueue {
  readonly #keys: Float64Array
  #size = 0

  /** @param capacity pairs that it holds at most at a time. */
  constructor(capacity: number) {
    this.#keys = new Float64Array(capacity)
  }

  push(rank: number, at: number): void {
    const keys = this.#keys
    const key = rank * PLACES + at
    let index = this.#size
    this.#size += 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const parentKey = keys[parent] ?? 0
      if (parentKey <= key) {
        break
      }
      keys[index] = parentKey
      index = parent
    }
    keys[index] = key
  }

  pop(): { readonly rank: number; readonly at: number } | undefined {
    if (this.#size === 0) {
      return undefined
    }
    const key = this.#keys[0] ?? 0
    this.#size -= 1
    this.#sink(this.#keys[this.#size] ?? 0)
    const rank = Math.floor(key / PLACES)
    return { rank, at: key - rank * PLACES }
  }

  /** Puts the key that stood last where the first one was taken. */
  #sink(key: number): void {
    const keys = this.#keys
    const size = this.#size
    let index = 0
    for (let child = 1; child < size; child = 2 * index + 1) {
      const right = child + 1
      if (right < size && (keys[right] ?? 0) < (keys[child] ?? 0)) {
        child = right
      }
      const childKey = keys[child] ?? 0
      if (childKey >= key) {
        break
      }
      keys[index] = childKey
      index = child
    }
    keys[index] = key
  }
}
