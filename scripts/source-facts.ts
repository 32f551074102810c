import { posix } from 'node:path'
import { parseSync } from '@swc/core'

/** What the check of the test mirror has to know of one TypeScript file. */
export interface SourceFacts {
  /** Paths from the root of the repository, of files that this one needs when it runs: imports of types are left out. */
  imports: string[]
  /** Whether the file has a function, a method or a decision. A plain constructor only keeps what it is given. */
  holdsBehaviour: boolean
  /** Whether the file decides anything: a condition, a loop or a `catch`. */
  holdsDecisions: boolean
}

/** As in `imports` of package.json. */
export type ImportAliases = Record<`#${string}/*`, string>

const FUNCTIONS = [
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
]
const DECISIONS = [
  'IfStatement',
  'ConditionalExpression',
  'SwitchStatement',
  'TryStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
]

/** Throws what swc throws for a file that is not TypeScript. */
export function readSourceFacts(path: string, content: string, aliases: ImportAliases): SourceFacts {
  const facts: SourceFacts = { imports: [], holdsBehaviour: false, holdsDecisions: false }
  visit(parseSync(content, { syntax: 'typescript', target: 'es2024' }), (node) => {
    const target = importedAtRunTime(node)
    const file = target === undefined ? undefined : resolveImport(path, target, aliases)
    if (file !== undefined) {
      facts.imports.push(file)
    }
    facts.holdsDecisions ||= DECISIONS.includes(node.type) || node.operator === '&&' || node.operator === '||'
    facts.holdsBehaviour ||= facts.holdsDecisions || isFunction(node)
  })
  return facts
}

/** A node of swc's tree, as far as it is read here. */
interface Node {
  type: string
  typeOnly?: boolean
  isTypeOnly?: boolean
  source?: Node
  value?: unknown
  specifiers?: Node[]
  callee?: Node
  arguments?: { expression: Node }[]
  operator?: string
  body?: unknown
  function?: Node
}

function visit(value: unknown, look: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) {
    return
  }
  if ('type' in value && typeof value.type === 'string') {
    look(value as Node)
  }
  for (const child of Object.values(value)) {
    visit(child, look)
  }
}

/** An abstract method has no body. */
function isFunction(node: Node): boolean {
  return FUNCTIONS.includes(node.type) && Boolean(node.body ?? node.function?.body)
}

function importedAtRunTime(node: Node): string | undefined {
  if (node.type === 'CallExpression' && node.callee?.type === 'Import') {
    return stringOf(node.arguments?.[0]?.expression)
  }
  const isImport = /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/.test(node.type)
  const areTypes = node.specifiers?.length !== 0 && node.specifiers?.every((specifier) => specifier.isTypeOnly)
  return isImport && !node.typeOnly && !areTypes ? stringOf(node.source) : undefined
}

function stringOf(node: Node | undefined): string | undefined {
  return typeof node?.value === 'string' ? node.value : undefined
}

/** Undefined for packages. */
function resolveImport(from: string, target: string, aliases: ImportAliases): string | undefined {
  for (const [alias, folder] of Object.entries(aliases)) {
    const prefix = alias.slice(0, -1)
    if (target.startsWith(prefix)) {
      return posix.normalize(folder.replace('*', target.slice(prefix.length)))
    }
  }
  return target.startsWith('.') ? posix.join(posix.dirname(from), target) : undefined
}
