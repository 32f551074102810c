import { beginEngines } from '../engines/worker-engines.ts'
import beginRun from '../logs/begin-run.ts'
import { setup } from './kept-in-run.ts'

/** Before all tests. */
export default async function beginAll({ maxWorkers }: { readonly maxWorkers: number }): Promise<void> {
  beginRun()
  setup()
  await beginEngines(maxWorkers)
}
