/** Outlines on a grid of 24, drawn for this console. */
const OUTLINES = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  usage: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  videos: 'M3 6h18v12H3zM10 9.5v5l4.5-2.5z',
  requests: 'M4 8h13M13 4l4 4-4 4M20 16H7M11 12l-4 4 4 4',
  ledger: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  playground: 'M5 5l6 7-6 7M13 19h6',
  webhooks: 'M8 16a4 4 0 1 1 3.5-6M16 16H9M15.5 16a3.5 3.5 0 1 0-1-6.8L11.5 4',
  keys: 'M14 10a4 4 0 1 0-4 4 4 4 0 0 0 4-4zM13 13l7 7M17 17l2-2',
  tenants: 'M4 20V8l8-5 8 5v12zM9 20v-6h6v6',
  channels: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4',
  audit: 'M12 3l8 3v6c0 5-3.5 7.5-8 9-4.5-1.5-8-4-8-9V6zM9 12l2 2 4-4',
  sessions: 'M12 12a4 4 0 1 0-4-4 4 4 0 0 0 4 4zM4 21c0-4 4-6 8-6s8 2 8 6',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M4 12l5 5L20 6',
  close: 'M5 5l14 14M19 5L5 19',
  menu: 'M4 6h16M4 12h16M4 18h16',
  download: 'M12 4v11M7 10l5 5 5-5M4 20h16',
  reload: 'M20 11a8 8 0 1 0-2 6M20 4v7h-7',
  plus: 'M12 5v14M5 12h14',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  alert: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  theme: 'M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z',
  exit: 'M14 4h6v16h-6M10 8l-4 4 4 4M6 12h9',
  help: 'M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2M12 17v.5M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z',
  clock: 'M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM12 7v5l3 2',
} as const

/** The name of a drawing. */
export type IconName = keyof typeof OUTLINES

/** A drawing beside a word: screen readers skip it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={OUTLINES[name]} />
    </svg>
  )
}
