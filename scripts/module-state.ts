import { parseSync } from '@swc/core'

/** A value of a module that could keep something from one request to the next. */
export type ModuleState = {
  /** Such as `cache`; of a class `Name.field`. */
  readonly name: string
  /** Why it could: `let`, `new Map`, `once`, `empty`, `stateful pattern` or `static`. */
  readonly kind: string
}

/** Made anew, these keep nothing, or nothing that code could change. */
const HARMLESS = new Set(['RegExp', 'TextEncoder', 'TextDecoder', 'URL'])

/** Types through which nobody changes a value. */
const READ_ONLY = new Set(['ReadonlyMap', 'ReadonlySet', 'Readonly'])

/** A node of swc's tree, as far as it is read here. */
type Node = {
  readonly type: string
  readonly kind?: string
  readonly body?: unknown
  readonly declaration?: Node
  readonly declarations?: readonly Node[]
  readonly id?: Node
  readonly identifier?: Node
  readonly value?: unknown
  readonly init?: Node | null
  readonly typeAnnotation?: Node | null
  readonly typeName?: Node
  readonly op?: string
  readonly callee?: Node
  readonly expression?: Node
  readonly elements?: readonly unknown[]
  readonly properties?: readonly unknown[]
  readonly flags?: string
  readonly isStatic?: boolean
  readonly key?: Node
}

/**
 * The state of a module in the order of its source: variables, caches and other objects that are made when it is loaded, values that are
 * made once, patterns that remember where they stopped, and static fields. Objects that no code can change are left out.
 * @throws what swc throws for a file that is not TypeScript.
 */
export function readModuleState(content: string): readonly ModuleState[] {
  const { body } = parseSync(content, { syntax: 'typescript', target: 'es2024' }) as unknown as { body: Node[] }
  return body.flatMap((item) => stateOf(item.type === 'ExportDeclaration' ? (item.declaration ?? item) : item))
}

function stateOf(item: Node): readonly ModuleState[] {
  if (item.type === 'VariableDeclaration') {
    return (item.declarations ?? []).flatMap((declaration) => {
      const kind = item.kind === 'const' ? kindOf(declaration) : 'let'
      return kind === undefined ? [] : [{ name: String(declaration.id?.value), kind }]
    })
  }
  if (item.type === 'ClassDeclaration' && Array.isArray(item.body)) {
    const fields = (item.body as Node[]).filter(({ isStatic, type }) => isStatic === true && /Property$/.test(type))
    return fields.map(({ key }) => ({ name: `${item.identifier?.value}.${nameOf(key)}`, kind: 'static' }))
  }
  return []
}

function nameOf(key: Node | undefined): string {
  return String(key?.value ?? (key?.id as Node | undefined)?.value)
}

function kindOf({ id, init }: Node): string | undefined {
  const made = unwrapped(init ?? undefined)
  const type = id?.typeAnnotation?.typeAnnotation
  const isReadOnly = READ_ONLY.has(String(type?.typeName?.value)) || type?.op === 'readonly'
  if (made === undefined || isReadOnly) {
    return undefined
  }
  switch (made.type) {
    case 'NewExpression':
      return HARMLESS.has(String(made.callee?.value)) ? undefined : `new ${made.callee?.value}`
    case 'CallExpression':
      return made.callee?.value === 'once' ? 'once' : undefined
    case 'ArrayExpression':
      return made.elements?.length === 0 ? 'empty' : undefined
    case 'ObjectExpression':
      return made.properties?.length === 0 ? 'empty' : undefined
    case 'RegExpLiteral':
      return /[gy]/.test(made.flags ?? '') ? 'stateful pattern' : undefined
    default:
      return undefined
  }
}

/** Without `as const`, `satisfies` and parentheses. */
function unwrapped(node: Node | undefined): Node | undefined {
  const wrappers = ['TsAsExpression', 'TsConstAssertion', 'TsSatisfiesExpression', 'ParenthesisExpression']
  return node !== undefined && wrappers.includes(node.type) ? unwrapped(node.expression) : node
}
