import type { Item, NamedWrites, Table } from '#store/table/table.ts'

/** A table for commands whose effects are outside of it: it keeps the entries of the audit log, and has nothing else. */
export function recordingTable(): { readonly table: Table; readonly entries: Item[] } {
  const entries: Item[] = []
  const nothing = async () => {
    throw new Error('the command reads or changes the table')
  }
  const transact = async (writes: NamedWrites) => {
    const { audit, ...others } = writes
    if (audit === undefined || !('Put' in audit) || Object.keys(others).length > 0) {
      return await nothing()
    }
    entries.push(audit.Put.Item)
  }
  return {
    table: { transact, readItem: nothing, readItems: nothing, queryPage: nothing, updateItem: nothing },
    entries,
  }
}
