import { useEffect, useState } from 'preact/hooks'

/** A value that components read and that changes outside them. */
export type Store<Value> = {
  readonly get: () => Value
  readonly set: (value: Value) => void
  /** Calls back at each change until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void
}

/** A store with its first value. */
export function createStore<Value>(first: Value): Store<Value> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      value = next
      for (const listener of listeners) {
        listener()
      }
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

/** The value of a store; the component draws again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(store.get)
  useEffect(() => {
    setValue(() => store.get())
    return store.subscribe(() => setValue(() => store.get()))
  }, [store])
  return value
}
