import { type Document, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml'

/** A problem at one place of a configuration file. */
export type ConfigProblem = { readonly path: readonly PropertyKey[]; readonly message: string }

const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g

/**
 * Substitutes `${NAME}` and `${NAME:-default}` in every string except for `api_key`, which keeps the name of its secret.
 * @returns a problem per unset variable.
 */
export function fillInVariables(
  document: Document,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  visit(document, {
    Pair(_, pair) {
      return keyOf(pair) === 'api_key' ? visit.SKIP : undefined
    },
    Scalar(role, node, ancestors) {
      if (typeof node.value !== 'string' || role === 'key') {
        return
      }
      node.value = node.value.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
        const value = environment[name] || fallback
        if (value === undefined) {
          const message = `\${${name}} is used but ${name} is not set; set it or write \${${name}:-default}`
          problems.push({ path: pathOf([...ancestors, node]), message })
        }
        return value ?? whole
      })
    },
  })
  return problems
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key)
}

function pathOf(nodes: readonly (Document | Node | Pair)[]): PropertyKey[] {
  return nodes.flatMap<PropertyKey>((node, index) => {
    if (isPair(node)) {
      return [keyOf(node)]
    }
    const child = nodes[index + 1]
    return isSeq(node) && child !== undefined ? [node.items.indexOf(child)] : []
  })
}
