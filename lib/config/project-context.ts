import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { contextSchema } from './context-schema.ts'

const projectFile = z.object({ context: z.record(z.string(), z.unknown()).default({}) })

/** The settings of a deployment in `cdk.json`, without those of CDK itself. */
export function readProjectContext(directory = '.'): Readonly<Record<string, unknown>> {
  const file = join(directory, 'cdk.json')
  if (!existsSync(file)) {
    return {}
  }
  const { context } = projectFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  return Object.fromEntries(Object.entries(context).filter(([key]) => Object.hasOwn(contextSchema.shape, key)))
}
