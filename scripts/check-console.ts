import { buildConsole } from '../lib/console/build-console.ts'
import { readConsoleFiles } from '../lib/console/console-files.ts'
import { FIRST_LOAD_BYTES_MAX, firstLoad } from '../lib/console/first-load.ts'

/** `npm run check:console`: builds the console and exits 1 when its first page weighs more than it may. */
async function main(): Promise<void> {
  const files = firstLoad(readConsoleFiles(await buildConsole()))
  for (const { name, bytes } of files) {
    console.log(`${String(bytes).padStart(7)} bytes of gzip  ${name}`)
  }
  const sum = files.reduce((total, { bytes }) => total + bytes, 0)
  const isAbove = sum > FIRST_LOAD_BYTES_MAX
  console.log(
    `${String(sum).padStart(7)} bytes of gzip in all of ${FIRST_LOAD_BYTES_MAX}${isAbove ? '  ABOVE BUDGET' : ''}`,
  )
  if (isAbove) {
    process.exitCode = 1
  }
}

await main()
