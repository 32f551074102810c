import beginRun from './begin-run.ts'
import endRun from './end-run.ts'

export { beginRun as setup, endRun as teardown }
