import { Page } from '../../components/page.tsx'

/** What goes on: spend, traffic, jobs, and what needs a person. */
export default function OverviewPage() {
  return (
    <Page title="Overview">
      <p>Soon.</p>
    </Page>
  )
}
