import type { Actor } from '#store/audit/audit-entry.ts'

/** Who makes the changes of a test. */
export const TESTER: Actor = { name: 'tester@test', role: 'operator' }
