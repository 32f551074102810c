import { existsSync, renameSync, rmSync } from 'node:fs'
import { build } from 'vite'

/**
 * Builds the application in the first folder into the second one. The output appears whole or not at all, because it is renamed into place.
 * No script and no `data:` url stands in the page, so its policy allows neither.
 */
async function runVite(source: string, output: string): Promise<void> {
  const unfinished = `${output}.${process.pid}`
  await build({
    root: source,
    base: '/console/',
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'error',
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      target: 'es2023',
      // Newer than the scripts' target: `light-dark()` is left to the browser.
      cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  try {
    renameSync(unfinished, output)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another process has built the same sources.
    if (!existsSync(output)) {
      throw error
    }
  }
}

const [source = '', output = ''] = process.argv.slice(2)
await runVite(source, output)
