import type { RequestRow } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { amountColumn, exported, numberColumn, timeColumn } from '../../components/columns.tsx'
import { KeyName } from '../../components/key-name.tsx'
import { Status } from '../../components/status.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { keyLabel } from '../../core/key-label.ts'

/** The columns of requests; what has no column of its own is exported. @param seesChannels tenants see none. */
export function requestColumns(seesChannels: boolean): readonly TableColumn<RequestRow>[] {
  return [
    timeColumn({ id: 'at', title: 'Time' }, ({ at }) => at),
    {
      id: 'status',
      title: 'Status',
      order: 'number',
      isAtEnd: false,
      value: ({ status }) => status,
      cell: (row) => <Status state={String(row.status ?? 'left')} tone={row.failure === null ? 'good' : 'bad'} />,
    },
    {
      id: 'failure',
      title: 'Failure',
      isProse: true,
      value: failureOf,
      cell: (row) => failureOf(row) ?? <Nothing />,
    },
    { id: 'model', title: 'Model', order: 'text', value: ({ model }) => model },
    {
      id: 'key',
      title: 'Key',
      order: 'text',
      value: keyOf,
      cell: ({ key, key_name: name }) => <KeyName id={key} name={name} />,
    },
    ...(seesChannels ? [CHANNEL] : []),
    numberColumn({ id: 'input', title: 'Tokens in' }, inputOf),
    numberColumn({ id: 'output', title: 'Tokens out' }, ({ usage }) => usage?.output_tokens),
    numberColumn({ id: 'first', title: 'First byte ms' }, ({ first_byte_milliseconds }) => first_byte_milliseconds),
    amountColumn({ id: 'cost', title: 'Cost' }, ({ cost }) => cost),
    exported('Id', ({ id }) => id),
    exported('Key id', ({ key }) => key),
    exported('Operation', ({ operation }) => operation),
    exported('Milliseconds', ({ milliseconds }) => milliseconds),
    exported('Estimated', ({ estimated }) => estimated),
  ]
}

const CHANNEL: TableColumn<RequestRow> = {
  id: 'channel',
  title: 'Channel',
  order: 'text',
  value: ({ channel }) => channel,
  cell: ({ channel }) => channel ?? <Nothing />,
}

/** Its name, where it has one. */
function keyOf({ key_name: name, key }: RequestRow): string | null {
  return key === null ? null : keyLabel(key, name)
}

function inputOf({ usage }: RequestRow): number | null {
  return usage === null ? null : usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens
}

/** Such as `upstream auth: HTTP 401 invalid_api_key`. */
function failureOf({ failure, cause }: RequestRow): string | null {
  const words = failure?.replaceAll('_', ' ') ?? null
  return cause === null ? words : `${words}: ${cause}`
}
