import { runDemo } from '../lib/demo/run-demo.ts'
import { printFailure } from './print-failure.ts'

/** `npm run demo`. Exits 0 when all of it worked. */
runDemo().then(() => process.exit(0), printFailure)
