import { randomUUID } from 'node:crypto'

/** A new id: a prefix and 32 hexadecimal digits. */
export function newId(prefix: 'chatcmpl-' | 'cmpl-' | 'call_' | 'req_'): string {
  return `${prefix}${randomUUID().replaceAll('-', '')}`
}
