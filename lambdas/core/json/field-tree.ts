/** Fields by name: a whole field, or some fields of the object that is its value. */
export type FieldTree = ReadonlyMap<string, FieldTree | 'whole'>

type GrowingTree = Map<string, GrowingTree | 'whole'>

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
