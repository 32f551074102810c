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
  const present = (): Opened => {
    if (opened === undefined) {
      throw new Error('this is opened when the tests run, and used before')
    }
    return opened
  }
  return new Proxy({} as Opened, {
    get: (_, name) => {
      const value = Reflect.get(present(), name)
      return typeof value === 'function' ? value.bind(opened) : value
    },
    set: (_, name, value) => Reflect.set(present(), name, value),
  })
}
