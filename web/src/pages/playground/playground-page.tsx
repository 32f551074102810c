import { useEffect, useState } from 'preact/hooks'
import { useGatewayModels } from '../../api/gateway-models.ts'
import type { GatewayModel } from '../../api/gateway-types.ts'
import { useMay, useSession } from '../../api/session.ts'
import { Empty, Failure, Skeleton } from '../../components/feedback.tsx'
import { FilterBar, SelectFilter } from '../../components/filter-bar.tsx'
import { Page } from '../../components/page.tsx'
import { NeedsTenant } from '../../shell/needs-tenant.tsx'
import { TenantFilter, useTenantScope } from '../../shell/tenant-scope.tsx'
import { type UrlFilters, useUrlFilters } from '../../state/url-filters.ts'
import { ChatPlayground } from './chat-playground.tsx'
import { ImagePlayground } from './image-playground.tsx'
import { VideoPlayground } from './video-playground.tsx'

const KINDS = [
  ['video', 'Video'],
  ['chat', 'Chat'],
  ['image', 'Image'],
] as const

type Kind = (typeof KINDS)[number][0]

const PLAYGROUNDS = { video: VideoPlayground, chat: ChatPlayground, image: ImagePlayground }

/** Tries models with a key of fifteen minutes that spends the tenant's credits. */
export default function PlaygroundPage() {
  const url = useUrlFilters(['tenant', 'kind', 'model', 'compare'])
  const tenant = useTenantScope(url)
  return (
    <Page title="Playground" lead="Try the models. Requests are real: they cost the tenant’s credits.">
      {!useMay('playground') ? (
        <Empty title="Viewers cannot spend">
          <p>Sign in as an owner or an admin of a tenant, or with an API key.</p>
        </Empty>
      ) : (
        <>
          <KindTabs url={url} />
          {tenant === undefined ? (
            <FilterBar url={{ ...url, clear: undefined }}>
              <TenantFilter url={url} any="Choose a tenant" />
            </FilterBar>
          ) : null}
          <NeedsTenant url={url}>{(payer) => <PlaygroundOfTenant url={url} payer={payer} />}</NeedsTenant>
        </>
      )}
    </Page>
  )
}

function PlaygroundOfTenant({ url, payer }: { readonly url: UrlFilters; readonly payer: string }) {
  // An API key that signed in pays for itself, and may not name a tenant.
  const tenant = useSession().tenant === null ? payer : undefined
  const models = useGatewayModels(tenant)
  return (
    <>
      <FilterBar url={{ ...url, clear: undefined }}>
        <TenantFilter url={url} any="Choose a tenant" />
        <ModelFilters url={url} models={models.data ?? []} />
      </FilterBar>
      {models.isError ? <Failure error={models.error} onRetry={() => void models.refetch()} /> : null}
      {models.isPending ? <Skeleton rows={4} /> : null}
      {models.data === undefined ? null : <Playgrounds key={tenant} url={url} tenant={tenant} all={models.data} />}
    </>
  )
}

function KindTabs({ url }: { readonly url: UrlFilters }) {
  const kind = kindOf(url)
  return (
    <nav class="tabs" aria-label="Kind of model">
      {KINDS.map(([each, title]) => (
        <button
          key={each}
          type="button"
          aria-current={each === kind ? 'page' : undefined}
          onClick={() => url.change({ kind: each, model: '', compare: '' })}
        >
          {title}
        </button>
      ))}
    </nav>
  )
}

function ModelFilters({ url, models }: { readonly url: UrlFilters; readonly models: readonly GatewayModel[] }) {
  const offered = models.filter((model) => model.kind === kindOf(url))
  const options = offered.map(({ id }) => [id, id] as const)
  const first = url.filters.model ?? offered[0]?.id
  return (
    <>
      <SelectFilter url={url} name="model" label="Model" any={offered[0]?.id ?? 'None'} options={options.slice(1)} />
      <SelectFilter
        url={url}
        name="compare"
        label="Side by side with"
        any="No other model"
        options={options.filter(([id]) => id !== first)}
      />
    </>
  )
}

type PlaygroundsProps = {
  readonly url: UrlFilters
  readonly tenant: string | undefined
  readonly all: readonly GatewayModel[]
}

/** The playground of the chosen kind. Those of other kinds that were opened stay behind it, with what runs in them. */
function Playgrounds({ url, tenant, all }: PlaygroundsProps) {
  const kind = kindOf(url)
  const [opened, setOpened] = useState<ReadonlySet<Kind>>(new Set([kind]))
  useEffect(() => setOpened((before) => new Set([...before, kind])), [kind])
  return KINDS.filter(([each]) => each === kind || opened.has(each)).map(([each]) => (
    <div key={each} hidden={each !== kind}>
      <PlaygroundOfKind kind={each} url={url} tenant={tenant} all={all} />
    </div>
  ))
}

function PlaygroundOfKind({ kind, url, tenant, all }: PlaygroundsProps & { readonly kind: Kind }) {
  const offered = all.filter((model) => model.kind === kind)
  const first = offered.find(({ id }) => id === url.filters.model) ?? offered[0]
  if (first === undefined) {
    return (
      <Empty title={`No ${kind} model`}>
        <p>The configuration has none, or the key may not use any.</p>
      </Empty>
    )
  }
  const second = offered.find(({ id }) => id === url.filters.compare && id !== first.id)
  const Playground = PLAYGROUNDS[kind]
  return <Playground tenant={tenant} models={second === undefined ? [first] : [first, second]} />
}

function kindOf({ filters }: UrlFilters): Kind {
  return KINDS.find(([kind]) => kind === filters.kind)?.[0] ?? 'video'
}
