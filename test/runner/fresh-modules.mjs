import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Loaded by every worker. A worker runs many test files and loads each library once, and so lambdas/core, which is pure. Every other
 * module of ours is loaded anew for each test file: handlers keep what they have opened, and helpers have hooks of their own.
 */
const ROOT = pathToFileURL(`${process.cwd()}/`).href
const OF_FILE = /\?vitest=\d+$/
const sources = new Map()

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const file = OF_FILE.exec(context.parentURL ?? '')?.[0]
    return file !== undefined && isLoadedAnew(resolved.url) ? { ...resolved, url: `${resolved.url}${file}` } : resolved
  },
  load(url, context, nextLoad) {
    const path = url.replace(OF_FILE, '')
    if (path === url || !path.endsWith('.ts')) {
      return nextLoad(url, context)
    }
    let source = sources.get(path)
    if (source === undefined) {
      source = stripTypeScriptTypes(readFileSync(fileURLToPath(path), 'utf8'))
      sources.set(path, source)
    }
    return { format: 'module', source, shortCircuit: true }
  },
})

function isLoadedAnew(url) {
  return (
    url.startsWith(ROOT) &&
    !url.includes('/node_modules/') &&
    !url.startsWith(`${ROOT}lambdas/core/`) &&
    !url.includes('?')
  )
}
