import type { TableWithClient } from './table-with-client.ts'

/** What the SDK throws when the connection broke: the service may have done its work. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
  readonly $metadata = {}
}

type Fault = { readonly kind: 'reply_lost' | 'request_lost'; readonly times: number }

/**
 * Breaks the connection under requests whose input holds `marker` somewhere: after the table has done its work
 * (`reply_lost`) or before (`request_lost`). Later requests pass.
 */
export function breakConnection(
  table: TableWithClient,
  marker: string,
  { kind, times }: Fault = { kind: 'reply_lost', times: 1 },
) {
  let left = times
  table.client.middlewareStack.add(
    (next) => async (args) => {
      const text = JSON.stringify(args.input, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
      const isMeant = text.includes(table.name) && text.includes(marker)
      if (left === 0 || !isMeant) {
        return await next(args)
      }
      left -= 1
      if (kind === 'reply_lost') {
        await next(args)
      }
      throw new ConnectionLostError('socket hang up')
    },
    { step: 'initialize' },
  )
  return { left: () => left }
}
