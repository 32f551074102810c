import { afterEach } from '@jest/globals'

const closers: (() => unknown)[] = []

/** Calls it after the running test, also after one that fails; the last one first. */
export function whenTestEnds(close: () => unknown): void {
  closers.unshift(close)
}

afterEach(async () => {
  for (const close of closers.splice(0)) {
    await close()
  }
})
