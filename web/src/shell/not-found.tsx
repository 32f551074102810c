import { Page } from '../components/page.tsx'

/** For a path that is no page. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        The console has no page at this address. <a href="/console">Go to the overview</a>
      </p>
    </Page>
  )
}
