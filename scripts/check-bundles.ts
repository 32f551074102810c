import { globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BUNDLE_BUDGET, bundleHandler, weighBundle } from '#aws/bundle-handler.ts'
import { RELAY_SERVER } from '#aws/function-code.ts'

const root = join(import.meta.dirname, '..')

/** `npm run check:bundles`: bundles every handler and the relay server as a deployment does, and exits 1 when one is above its budget. */
function main(): void {
  const handlers = globSync('**/handler.ts', { cwd: join(root, 'lambdas') }).sort()
  const modules = [...handlers.map((file) => ({ folder: dirname(file), entry: basename(file) })), RELAY_SERVER]
  const width = Math.max(...modules.map(({ folder }) => folder.length))
  for (const { folder, entry } of modules) {
    const { atStart, deployed } = weighBundle(bundleHandler({ root, folder, entry }))
    const isAbove = atStart > BUNDLE_BUDGET.atStart || deployed > BUNDLE_BUDGET.deployed
    const sizes = `${whole(atStart)} KB at start of ${BUNDLE_BUDGET.atStart}, ${whole(deployed)} KB in all of ${BUNDLE_BUDGET.deployed}`
    console.log(`${folder.padEnd(width)}  ${sizes}${isAbove ? '  ABOVE BUDGET' : ''}`)
    if (isAbove) {
      process.exitCode = 1
    }
  }
}

function whole(kilobytes: number): string {
  return kilobytes.toFixed(0).padStart(4)
}

main()
