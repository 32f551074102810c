import { writeGenerated } from '../lib/docs/write-generated.ts'

writeGenerated('tables')
