import { DataDirectory } from '#local/data-directory.ts'

/** Takes a data directory as a host does, says so, and holds it until it is killed. */
try {
  new DataDirectory(process.argv[2] ?? '').lock()
  console.log('held')
  setInterval(() => undefined, 1000)
} catch (error) {
  console.log(error instanceof Error ? error.message : 'failed')
}
