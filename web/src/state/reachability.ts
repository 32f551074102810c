import { createStore } from './store.ts'

/** Whether the last request reached the gateway. A browser's own `navigator.onLine` is about other networks than loopback. */
export const isReachable = createStore(true)

/** Asks whether the gateway is reached, and resolves once it is. */
export function whenReached(): Promise<void> {
  isReachable.set(false)
  return new Promise((resolve) => {
    const stop = isReachable.subscribe(() => {
      if (isReachable.get()) {
        stop()
        resolve()
      }
    })
  })
}

const PROBE_MILLISECONDS = 3_000

/** Asks for the page again until it arrives, and then calls back. Asks at once when the browser says that it is online. */
export function watchReachability(onRecovered: () => void): void {
  let isProbing = false
  let next: ReturnType<typeof setTimeout> | undefined
  const probe = async () => {
    next = undefined
    try {
      await fetch('/console', { method: 'HEAD', cache: 'no-store' })
    } catch {
      isReachable.set(false)
      next = setTimeout(probe, PROBE_MILLISECONDS)
      return
    }
    isProbing = false
    if (!isReachable.get()) {
      isReachable.set(true)
      onRecovered()
    }
  }
  const begin = () => {
    if (!isProbing) {
      isProbing = true
      void probe()
    }
  }
  const beginAtOnce = () => {
    if (next === undefined) {
      begin()
    } else {
      clearTimeout(next)
      void probe()
    }
  }
  addEventListener('offline', begin)
  addEventListener('online', beginAtOnce)
  isReachable.subscribe(() => {
    if (!isReachable.get()) {
      begin()
    }
  })
}
