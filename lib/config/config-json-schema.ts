import * as z from 'zod'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'

/** A variable, which is substituted before validation. */
const VARIABLE = '\\$\\{[A-Z][A-Z0-9_]*(:-[^}]*)?\\}'

/**
 * The JSON Schema of `config/gateway.yaml` for editors. It describes the file before the substitution of `${NAME}`, and does
 * not include the rules between rows, which are checked at start and at synth.
 */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(gatewayConfigSchema, { io: 'input', target: 'draft-7' })
  const { $schema, ...rest } = schema
  const titled = { $schema, title: 'Reelgate gateway configuration', ...rest }
  return `${JSON.stringify(admitVariables(titled, ''), null, 2)}\n`
}

/** Allows a variable in every string with a pattern, except for `api_key`, whose own pattern has the variable. */
function admitVariables(node: unknown, name: string): unknown {
  if (Array.isArray(node)) {
    return node.map((item) => admitVariables(item, name))
  }
  if (typeof node !== 'object' || node === null) {
    return node
  }
  const fields = Object.entries(node).map(([key, value]) => {
    const isPattern = key === 'pattern' && typeof value === 'string' && name !== 'api_key'
    return [key, isPattern ? `(${value})|(${VARIABLE})` : admitVariables(value, key)]
  })
  return Object.fromEntries(fields)
}
