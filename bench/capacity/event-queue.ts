/** What happens next in virtual time: a binary heap, since a fleet has hundreds of thousands of events waiting. */
export class EventQueue<Event> {
  readonly #heap: { readonly at: number; readonly event: Event }[] = []

  /** @param at seconds of virtual time. */
  add(at: number, event: Event): void {
    const heap = this.#heap
    const entry = { at, event }
    let index = heap.length
    heap.push(entry)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || above.at <= at) {
        break
      }
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  /** The earliest event, or undefined when there is none. */
  next(): { readonly at: number; readonly event: Event } | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) {
      return first
    }
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const child = (heap[left + 1]?.at ?? Number.POSITIVE_INFINITY) < (heap[left]?.at ?? 0) ? left + 1 : left
      const below = heap[child]
      if (below === undefined || below.at >= last.at) {
        break
      }
      heap[index] = below
      index = child
    }
    heap[index] = last
    return first
  }
}
