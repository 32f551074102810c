import { committedContent, GENERATED_FILES } from '../lib/docs/generated-files.ts'

/** `npm run check:generated`: exits 1 when a generated file is out of date, and prints the command that updates it. */
function main(): void {
  const stale = GENERATED_FILES.filter((file) => committedContent(file) !== file.content())
  for (const { path, command } of stale) {
    console.error(`${path} is out of date: npm run ${command}`)
  }
  if (stale.length > 0) {
    process.exitCode = 1
  } else {
    console.log(`${GENERATED_FILES.length} generated files are up to date`)
  }
}

main()
