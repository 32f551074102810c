import { hostname, userInfo } from 'node:os'
import type { Actor } from '#store/audit/audit-entry.ts'

/** The user of this machine, as `user@host`, for the audit log. */
export function localActor(): Actor {
  return { name: `${userName()}@${hostname()}`, role: 'operator' }
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
