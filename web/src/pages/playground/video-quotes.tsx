import { useQueries } from '@tanstack/preact-query'
import type { ApiError } from '../../api/api-error.ts'
import { gatewayRequest } from '../../api/gateway-request.ts'
import type { GatewayModel, VideoQuote } from '../../api/gateway-types.ts'
import { Amount } from '../../components/amount.tsx'
import { useSettled } from './use-settled.ts'

/** The quotes of these bodies, asked for when somebody has stopped typing. */
export function useVideoQuotes(tenant: string | undefined, bodies: readonly Readonly<Record<string, unknown>>[]) {
  const settled = useSettled(JSON.stringify(bodies))
  const asked = JSON.parse(settled) as typeof bodies
  return useQueries({
    queries: asked.map((body) => ({
      queryKey: ['quote', tenant, JSON.stringify(body)],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const response = await gatewayRequest('/video/quotes', { tenant, method: 'POST', body, signal })
        return (await response.json()) as VideoQuote
      },
      enabled: String(body.prompt).trim() !== '',
    })),
  }).map(({ data, error }) => ({ data: data as VideoQuote | undefined, error: error as ApiError | null }))
}

/** What the videos would cost at most. */
export function VideoQuotes(props: {
  readonly models: readonly GatewayModel[]
  readonly quotes: ReturnType<typeof useVideoQuotes>
}) {
  const { models, quotes } = props
  return (
    <dl class="quotes" aria-live="polite">
      {quotes.map(({ data, error }, index) => (
        <div key={models[index]?.id ?? index}>
          <dt>{models.length === 1 ? 'Costs at most' : models[index]?.id}</dt>
          <dd>
            {data === undefined ? error === null ? '…' : <span class="field-error">{error.message}</span> : null}
            {data === undefined ? null : (
              <>
                <Amount value={data.estimate} />{' '}
                <span class="hint">
                  of <Amount value={data.available} isRounded /> available
                </span>
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
