import { useLocation } from 'preact-iso/router'
import { useSession } from '../api/session.ts'
import { Icon } from '../components/icon.tsx'
import { type NamedPage, pageNameOf, pagePath, pagesOf } from '../core/console-page.ts'
import { urlWithFilters } from '../core/filters.ts'

const GROUPS = ['Monitor', 'Build', 'Manage'] as const

/** Links to the pages that the role sees. The tenant of the url goes along to pages of one tenant. */
export function Navigation({ popoverId }: { readonly popoverId: string }) {
  const { path, query } = useLocation()
  const pages = pagesOf(useSession().role)
  const close = () => {
    const popover = document.getElementById(popoverId)
    if (popover?.matches(':popover-open')) {
      popover.hidePopover()
    }
  }
  return (
    <nav aria-label="Pages" class="navigation">
      {GROUPS.filter((group) => pages.some((page) => page.group === group)).map((group) => (
        <div key={group} class="navigation-group">
          <h2>{group}</h2>
          <ul>
            {pages
              .filter((page) => page.group === group)
              .map((page) => (
                <li key={page.name}>
                  <a
                    href={pageUrl(page, query.tenant)}
                    aria-current={pageNameOf(path) === page.name ? 'page' : undefined}
                    onClick={close}
                  >
                    <Icon name={page.name} />
                    {page.title}
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** The url of a page, of the tenant that the present page is about. */
export function pageUrl({ name, isScoped }: NamedPage, tenant: string | undefined): string {
  return isScoped && tenant !== undefined ? urlWithFilters(pagePath(name), { tenant }) : pagePath(name)
}
