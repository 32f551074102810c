import { LocationProvider, Route, Router } from 'preact-iso/router'
import { useSessionQuery } from '../api/session.ts'
import { Failure, Skeleton } from '../components/feedback.tsx'
import { Frame } from './frame.tsx'
import { lazy } from './lazy.ts'
import { NotFound } from './not-found.tsx'
import { NoticeRegion } from './notice-region.tsx'
import { OfflineBanner } from './offline-banner.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { SignIn } from './sign-in.tsx'

const Overview = lazy(() => import('../pages/overview/overview-page.tsx'))
const UsagePage = lazy(() => import('../pages/usage/usage-page.tsx'))
const Ledger = lazy(() => import('../pages/ledger/ledger-page.tsx'))
const Keys = lazy(() => import('../pages/keys/keys-page.tsx'))
const Tenants = lazy(() => import('../pages/tenants/tenants-page.tsx'))
const Tenant = lazy(() => import('../pages/tenants/tenant-page.tsx'))
const Channels = lazy(() => import('../pages/channels/channels-page.tsx'))
const Audit = lazy(() => import('../pages/audit/audit-page.tsx'))
const Videos = lazy(() => import('../pages/videos/videos-page.tsx'))
const Video = lazy(() => import('../pages/videos/video-page.tsx'))
const Webhooks = lazy(() => import('../pages/webhooks/webhooks-page.tsx'))
const Sessions = lazy(() => import('../pages/sessions/sessions-page.tsx'))
const Playground = lazy(() => import('../pages/playground/playground-page.tsx'))

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
  return session.data === null ? <SignIn /> : <SignedIn />
}

function SignedIn() {
  return (
    <Frame>
      <PageBoundary>
        <Router>
          <Route path="/console" component={Overview} />
          <Route path="/console/usage" component={UsagePage} />
          <Route path="/console/ledger" component={Ledger} />
          <Route path="/console/keys" component={Keys} />
          <Route path="/console/tenants" component={Tenants} />
          <Route path="/console/tenants/:tenant_id" component={Tenant} />
          <Route path="/console/channels" component={Channels} />
          <Route path="/console/audit" component={Audit} />
          <Route path="/console/videos" component={Videos} />
          <Route path="/console/videos/:job_id" component={Video} />
          <Route path="/console/webhooks" component={Webhooks} />
          <Route path="/console/sessions" component={Sessions} />
          <Route path="/console/playground" component={Playground} />
          <Route default component={NotFound} />
        </Router>
      </PageBoundary>
    </Frame>
  )
}
