import { createStore } from './store.ts'

/** Whether the last request reached the gateway. A browser's own `navigator.onLine` is about other networks than loopback. */
export const isReachable = createStore(true)

const PROBE_MILLISECONDS = 3_000

/** Asks for the page again until it arrives, and then calls back. */
export function watchReachability(onRecovered: () => void): void {
  let isProbing = false
  const probe = async () => {
    try {
      await fetch('/console', { method: 'HEAD', cache: 'no-store' })
    } catch {
      isReachable.set(false)
      setTimeout(probe, PROBE_MILLISECONDS)
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
  addEventListener('offline', begin)
  addEventListener('online', begin)
  isReachable.subscribe(() => {
    if (!isReachable.get()) {
      begin()
    }
  })
}
