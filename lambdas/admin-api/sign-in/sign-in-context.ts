import type { Table } from '#store/table/table.ts'

/** What the operations of sign-in take from outside. */
export type SignInContext = {
  readonly table: () => Table
  readonly environment: Readonly<Record<string, string | undefined>>
}
