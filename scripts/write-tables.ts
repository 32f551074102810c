import { writeGenerated } from '../lib/docs/generated-files.ts'

writeGenerated('tables')
