import { committedContent, GENERATED_FILES } from '../lib/docs/generated-files.ts'

/** `npm run check:generated`: exits 1 when a generated file is not what its sources make of it, and names the command that mends it. */
function main(): void {
  const stale = GENERATED_FILES.filter((file) => committedContent(file) !== file.content())
  for (const { path, command } of stale) {
    console.error(`${path} is not what its sources say: npm run ${command}`)
  }
  if (stale.length > 0) {
    process.exitCode = 1
  } else {
    console.log(`${GENERATED_FILES.length} generated files are up to date`)
  }
}

main()
