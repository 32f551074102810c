import * as z from 'zod'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'

/** A value that is filled in before it is validated, as an editor sees it. */
const VARIABLE = '\\$\\{[A-Z][A-Z0-9_]*(:-[^}]*)?\\}'

/**
 * The JSON Schema of `config/gateway.yaml` as text, for editors. It describes the file before `${NAME}` is filled in, and
 * knows single values only: what rows say of each other is checked at start and at synth.
 */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(gatewayConfigSchema, { io: 'input', target: 'draft-7' })
  const { $schema, ...rest } = schema
  const titled = { $schema, title: 'Reelgate gateway configuration', ...rest }
  return `${JSON.stringify(admitVariables(titled, ''), null, 2)}\n`
}

/** Every patterned text may also hold a variable; only `api_key` has a rule of its own for them. */
function admitVariables(node: unknown, name: string): unknown {
  if (Array.isArray(node)) {
    return node.map((item) => admitVariables(item, name))
  }
  if (typeof node !== 'object' || node === null) {
    return node
  }
  const members = Object.entries(node).map(([key, value]) => {
    const isPattern = key === 'pattern' && typeof value === 'string' && name !== 'api_key'
    return [key, isPattern ? `(${value})|(${VARIABLE})` : admitVariables(value, key)]
  })
  return Object.fromEntries(members)
}
