import type { Overview } from '../../api/admin-types.ts'
import { Nothing } from '../../components/amount.tsx'
import { Status } from '../../components/status.tsx'

type Channel = Overview['channels'][number]

/** How each channel does, in one line each. */
export function ChannelHealth({ channels }: { readonly channels: readonly Channel[] }) {
  return (
    <section aria-label="Channels">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll box must be reachable by the keyboard */}
      <section class="table-box" tabIndex={0} aria-label="Health of the channels">
        <table>
          <caption class="unseen">Health of the channels</caption>
          <thead>
            <tr>
              <th scope="col">Channel</th>
              <th scope="col">State</th>
              {['Open jobs', 'Calls a minute', 'Errors', 'p50 ms', 'p95 ms'].map((title) => (
                <th key={title} scope="col" class="at-end">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {channels.map((channel) => (
              <tr key={channel.id}>
                <td>{channel.id}</td>
                <td>
                  <Status state={stateOf(channel)} />
                </td>
                {numbersOf(channel).map(([title, value]) => (
                  <td key={title} class="at-end">
                    {value === null ? <Nothing /> : Math.round(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function stateOf({ disabled, breaker }: Channel): string {
  if (disabled) {
    return 'disabled'
  }
  return breaker === 'open' ? 'breaker open' : breaker === 'half_open' ? 'recovering' : 'enabled'
}

function numbersOf({ open_jobs, figures }: Channel): readonly (readonly [string, number | null])[] {
  return [
    ['jobs', open_jobs],
    ['requests', figures?.requests ?? null],
    ['errors', figures?.errors ?? null],
    ['p50', figures?.p50_ms ?? null],
    ['p95', figures?.p95_ms ?? null],
  ]
}
