import { join } from 'node:path'
import { brokenLinks } from '../lib/docs/broken-links.ts'

/** `npm run check:links`: exits 1 when a link of a page leads to a file or a heading that does not exist. */
function main(): void {
  const broken = brokenLinks(join(import.meta.dirname, '..'))
  for (const link of broken) {
    console.error(`${link} does not exist`)
  }
  if (broken.length > 0) {
    process.exitCode = 1
  } else {
    console.log('every link between pages resolves')
  }
}

main()
