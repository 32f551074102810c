import { afterAll, beforeAll } from '@jest/globals'

/**
 * Opens something before the tests of a file or a describe, and closes it after them. What is returned stands for what was opened: its
 * fields are read and set there, so it may be handed on before the tests run.
 */
export function useOpened<Opened extends { close(): unknown }>(open: () => Promise<Opened>): Opened {
  let opened: Opened | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => {
    await opened?.close()
  })
  return standIn(() => {
    if (opened === undefined) {
      throw new Error('this is opened when the tests run, and used before')
    }
    return opened
  })
}

/** Stands for an object that there will be once the tests run. */
export function standIn<Present extends object>(present: () => Present): Present {
  return new Proxy({} as Present, {
    get: (_, name) => {
      const value = Reflect.get(present(), name)
      // A spy stays itself, so that what it noted can be read.
      return typeof value === 'function' && !('mock' in value) ? value.bind(present()) : value
    },
    set: (_, name, value) => Reflect.set(present(), name, value),
    ownKeys: () => Reflect.ownKeys(present()),
    // A proxy may report no field as fixed that its own target does not have.
    getOwnPropertyDescriptor: (_, name) => {
      const own = Reflect.getOwnPropertyDescriptor(present(), name)
      return own && { ...own, configurable: true }
    },
  })
}
