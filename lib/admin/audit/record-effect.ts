import { type NewAuditEntry, recordAudit } from '#adapters/store/audit/audit-entry.ts'
import type { AdminContext } from '../command-line/command.ts'

/**
 * Records an effect outside of the table, such as a change of a secret, which no transaction can join. A change that cannot be undone or
 * seen afterwards is recorded before it is made, so that it never happens without an entry; after a crash in between, the entry stands
 * for an attempt. A change that somebody else may refuse is recorded after it was made.
 * @throws ServiceUnavailableError, DeploymentNotFoundError, CommandFailedError.
 */
export async function recordEffect(
  context: Pick<AdminContext, 'table' | 'actor'>,
  effect: Omit<NewAuditEntry, 'actor' | 'at'>,
): Promise<void> {
  await recordAudit(await context.table(), { ...effect, actor: await context.actor(), at: Date.now() })
}
