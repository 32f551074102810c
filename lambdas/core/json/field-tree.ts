/** Fields by name: a whole field, or some fields of the object that is its value. */
export type FieldTree = {
  get(name: string): FieldTree | 'whole' | undefined
  /** Of the elements of a list. Without it, lists are not entered. */
  readonly inList?: FieldTree
  /** A value without any of these texts has none of the fields, so it need not be read. Undefined if that cannot be told. */
  readonly signs?: readonly string[] | undefined
}

type GrowingTree = Map<string, GrowingTree | 'whole'>

/** Whether a value may have fields of a tree. It is given as text or as bytes. */
export function maySomewhereHave({ signs }: FieldTree, value: { includes(text: string): boolean }): boolean {
  return signs === undefined || signs.some((sign) => value.includes(sign))
}

/** The tree of dotted paths, such as `usage.cost`. A path whose beginning is listed too adds nothing. */
export function fieldTree(paths: readonly string[]): FieldTree {
  const tree: GrowingTree = new Map()
  for (const path of paths) {
    add(tree, path.split('.'))
  }
  return tree
}

function add(tree: GrowingTree, [name = '', ...inner]: readonly string[]): void {
  const known = tree.get(name)
  if (inner.length === 0 || known === 'whole') {
    tree.set(name, 'whole')
    return
  }
  const subtree: GrowingTree = known ?? new Map()
  tree.set(name, subtree)
  add(subtree, inner)
}
