import vm from 'node:vm'

/**
 * Loaded by every worker. Jest compiles each module anew for every test file; this way a worker compiles it once, and gives V8's code to the
 * next file. Jest works without this file, and needs more time.
 */
const { compileFunction, SourceTextModule } = vm
const functions = new Map()
const modules = new Map()

vm.compileFunction = (source, parameters, options) => {
  const known = functions.get(options.filename)
  if (known?.source === source) {
    return compileFunction(source, parameters, { ...options, cachedData: known.code })
  }
  const made = compileFunction(source, parameters, { ...options, produceCachedData: true })
  functions.set(options.filename, { source, code: made.cachedData })
  return made
}

vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options) {
    const known = modules.get(options.identifier)
    const isKnown = known?.source === source
    super(source, isKnown ? { ...options, cachedData: known.code } : options)
    if (!isKnown) {
      modules.set(options.identifier, { source, code: this.createCachedData() })
    }
  }
}
