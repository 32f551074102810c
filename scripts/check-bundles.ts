import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Bundle, bundleHandler } from '#aws/bundle-handler.ts'

/** Minified kilobytes (1000 bytes) that a function may have: every one of them is loaded at each cold start. */
const KILOBYTES_MAX = { withoutBucket: 450, withBucket: 600 }
const BUCKET_CLIENT = 'node_modules/@aws-sdk/client-s3/'

const root = join(import.meta.dirname, '..')

/** `npm run check:bundles`: bundles every handler as a deployment does, and exits 1 when one is above its budget. */
function main(): void {
  const folders = globSync('**/handler.ts', { cwd: join(root, 'lambdas') }).map(dirname)
  const sizes = folders.sort().map((folder) => measure(folder, bundleHandler({ root, folder })))
  const width = Math.max(...folders.map((folder) => folder.length))
  for (const { folder, kilobytes, budget } of sizes) {
    const verdict = kilobytes > budget ? '  ABOVE BUDGET' : ''
    console.log(`${folder.padEnd(width)}  ${kilobytes.toFixed(0).padStart(4)} KB of ${budget}${verdict}`)
  }
  if (sizes.some(({ kilobytes, budget }) => kilobytes > budget)) {
    process.exitCode = 1
  }
}

function measure(folder: string, { code, inputs }: Bundle) {
  const usesBucket = inputs.some((file) => file.startsWith(BUCKET_CLIENT))
  const budget = usesBucket ? KILOBYTES_MAX.withBucket : KILOBYTES_MAX.withoutBucket
  return { folder, kilobytes: Buffer.byteLength(code) / 1000, budget }
}

main()
