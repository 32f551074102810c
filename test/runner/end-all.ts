import { endEngines } from '../engines/worker-engines.ts'
import endRun from '../logs/end-run.ts'
import { teardown } from './kept-in-run.ts'
import { failOnUncaughtErrors } from './uncaught-errors.ts'

/** After all tests: the run has failed when an error escaped its tests, or a secret is in its logs. */
export default async function endAll(): Promise<void> {
  await endEngines()
  try {
    failOnUncaughtErrors()
  } finally {
    teardown()
    endRun()
  }
}
