import { Page } from '../components/page.tsx'

/** For a path that is no page. */
export function NotFound() {
  return (
    <Page title="No such page">
      <p>
        This address belongs to no page of the console. <a href="/console">Go to the overview</a>
      </p>
    </Page>
  )
}
