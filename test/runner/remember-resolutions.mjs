import { registerHooks } from 'node:module'

/**
 * Runs before each test file, and does its work once in a worker: what an import of a module of ours resolves to is found once in a worker.
 * Each file loads these modules anew, so it would be found for each file again, and told to the process of the runner, which needs to
 * know only when it watches files. Hooks that are registered later are asked first, and this one is registered after those of the runner.
 */
const OF_FILE = /\?vitest=\d+$/

if (globalThis.resolutionsAreRemembered === undefined && process.env.VITEST_MODE === 'RUN') {
  globalThis.resolutionsAreRemembered = true
  const remembered = new Map()
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const file = OF_FILE.exec(context.parentURL ?? '')?.[0]
      if (file === undefined || specifier.startsWith('data:')) {
        return nextResolve(specifier, context)
      }
      const parent = context.parentURL.slice(0, -file.length)
      const key = [specifier, parent, ...context.conditions].join('\n')
      let found = remembered.get(key)
      if (found === undefined) {
        const resolved = nextResolve(specifier, context)
        const isLoadedAnew = resolved.url.endsWith(file)
        found = { ...resolved, url: isLoadedAnew ? resolved.url.slice(0, -file.length) : resolved.url, isLoadedAnew }
        remembered.set(key, found)
      }
      const { isLoadedAnew, url, ...rest } = found
      return { ...rest, url: isLoadedAnew ? `${url}${file}` : url, shortCircuit: true }
    },
  })
}
