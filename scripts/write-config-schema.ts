import { writeFileSync } from 'node:fs'
import { configJsonSchema } from '../lib/config/config-json-schema.ts'

writeFileSync(new URL('../config/gateway.schema.json', import.meta.url), configJsonSchema())
