import type { FunctionComponent } from 'preact'
import { LocationProvider, Route, Router } from 'preact-iso/router'
import { useSessionQuery } from '../api/session.ts'
import { Failure, Skeleton } from '../components/feedback.tsx'
import { CONSOLE_PAGES, type PageName, pagePath } from '../core/console-page.ts'
import { Frame } from './frame.tsx'
import { lazy } from './lazy.ts'
import { NotFound } from './not-found.tsx'
import { NoticeRegion } from './notice-region.tsx'
import { OfflineBanner } from './offline-banner.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { SignIn } from './sign-in.tsx'

/** A file of its own for each page. */
const PAGES: Readonly<Record<PageName, FunctionComponent>> = {
  overview: lazy(() => import('../pages/overview/overview-page.tsx')),
  usage: lazy(() => import('../pages/usage/usage-page.tsx')),
  videos: lazy(() => import('../pages/videos/videos-page.tsx')),
  requests: lazy(() => import('../pages/requests/requests-page.tsx')),
  ledger: lazy(() => import('../pages/ledger/ledger-page.tsx')),
  playground: lazy(() => import('../pages/playground/playground-page.tsx')),
  webhooks: lazy(() => import('../pages/webhooks/webhooks-page.tsx')),
  keys: lazy(() => import('../pages/keys/keys-page.tsx')),
  tenants: lazy(() => import('../pages/tenants/tenants-page.tsx')),
  channels: lazy(() => import('../pages/channels/channels-page.tsx')),
  audit: lazy(() => import('../pages/audit/audit-page.tsx')),
  sessions: lazy(() => import('../pages/sessions/sessions-page.tsx')),
}

const Tenant = lazy(() => import('../pages/tenants/tenant-page.tsx'))
const Video = lazy(() => import('../pages/videos/video-page.tsx'))

/** The whole application: the sign-in page, or the frame with one page in it. */
export function Console() {
  return (
    <LocationProvider scope="/console">
      <OfflineBanner />
      <Content />
      <NoticeRegion />
    </LocationProvider>
  )
}

function Content() {
  const session = useSessionQuery()
  if (session.isPending) {
    return <Skeleton rows={4} label="Loading the console" />
  }
  if (session.isError) {
    return (
      <main class="sign-in">
        <h1 class="unseen">Reelgate</h1>
        <Failure error={session.error} onRetry={() => void session.refetch()} />
      </main>
    )
  }
  const { data } = session
  // Nothing that was shown of another tenant stays after a switch.
  return data === null ? <SignIn /> : <SignedIn key={`${data.id} ${data.tenant?.id ?? ''}`} />
}

function SignedIn() {
  return (
    <Frame>
      <PageBoundary>
        <Router>
          {CONSOLE_PAGES.map(({ name }) => (
            <Route key={name} path={pagePath(name)} component={PAGES[name]} />
          ))}
          <Route path="/console/tenants/:tenant_id" component={Tenant} />
          <Route path="/console/videos/:job_id" component={Video} />
          <Route default component={NotFound} />
        </Router>
      </PageBoundary>
    </Frame>
  )
}
