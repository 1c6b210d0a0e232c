/** Icons as one stroke font of our own: 16 units, current colour, never read out. */
const PATHS = {
  home: 'M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5',
  apps: 'M2.5 2.5h4.4v4.4H2.5zM9.1 2.5h4.4v4.4H9.1zM2.5 9.1h4.4v4.4H2.5zM9.1 9.1h4.4v4.4H9.1z',
  webhook:
    'M8 5.9a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8zM3.9 13.6a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8zM12.1 13.6a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8zM7.1 5.7 4.8 10M8.9 5.7l2.3 4.3M5.8 11.7h4.4',
  activity: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  inbox: 'M2.5 9.5 4.3 3h7.4l1.8 6.5V13h-11zM2.5 9.5h3.3l1 1.7h2.4l1-1.7h3.3',
  catalog: 'M2.5 5 8 2.3 13.5 5v6L8 13.7 2.5 11zM2.5 5 8 7.8 13.5 5M8 7.8v5.9',
  ads: 'M3 9.8V6.2l8-3.4v10.4zM11 6.3a1.8 1.8 0 0 1 0 3.5M4.6 10.2l.9 3h1.7l-.8-2.4',
  check: 'M3.5 8.5 6.5 11.5 12.5 5',
  cross: 'M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5',
  alert: 'M8 2.5 14.3 13H1.7zM8 6.6v3M8 11.3v.1',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.4v3.4M8 5.2v.1',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3 13.5 13.5',
  plus: 'M8 3v10M3 8h10',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8 10 12.5',
  external: 'M6.5 3.5h-3v9h9v-3M9.5 2.5h4v4M13.2 2.8 8 8',
  refresh: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5V5h-2.6',
  send: 'M2.5 7.6 13.5 2.5 9.6 13.5 7.6 8.6zM7.6 8.6 13.5 2.5',
  replay: 'M3 8a5 5 0 1 0 1.6-3.7M3 2.5V5h2.6M8 5.4V8l1.9 1.3',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.6V8l2.3 1.5',
  question: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3a1.8 1.8 0 1 1 2.5 1.7c-.5.2-.8.6-.8 1.2M8 11.2v.1',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  more: 'M2.9 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0zM7.4 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0zM11.9 8a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0z',
  key: 'M9.8 9.2a3.3 3.3 0 1 0-3-3L2.5 10.5v3h3v-1.6h1.6v-1.6zM10.8 5.2v.1',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.3 4.5l.6 9h6.2l.6-9M6.8 7v4M9.2 7v4',
  edit: 'M3 13l.6-2.7 7.2-7.2 2.1 2.1-7.2 7.2zM9.3 4.6l2.1 2.1',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.8v1M8 13.2v1M1.8 8h1M13.2 8h1M3.6 3.6l.7.7M11.7 11.7l.7.7M12.4 3.6l-.7.7M4.3 11.7l-.7.7',
  moon: 'M13 9.3A5.5 5.5 0 1 1 6.7 3a4.4 4.4 0 0 0 6.3 6.3z',
  screen: 'M2.5 3.5h11v7h-11zM6 13h4M8 10.5V13',
  leave: 'M6.5 3.5h-3v9h3M6.5 8h7M10.8 5.3 13.5 8l-2.7 2.7',
  user: 'M8 8.2a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.3c.5-2.2 2.5-3.4 5-3.4s4.5 1.2 5 3.4',
  bolt: 'M8.8 1.8 3.5 9h4l-.6 5.2L12.5 7h-4z',
  filter: 'M2.5 3.5h11L9.3 8.6v4.2l-2.6-1.4V8.6z',
  link: 'M6.8 9.2a2.7 2.7 0 0 0 3.9.2l2-2a2.7 2.7 0 0 0-3.8-3.9l-1 .9M9.2 6.8a2.7 2.7 0 0 0-3.9-.2l-2 2a2.7 2.7 0 0 0 3.8 3.9l1-.9',
  picture: 'M2.5 3.5h11v9h-11zM5.4 6.6v.1M2.8 11.6l3.4-3.2 2.3 2.1 2-1.8 2.8 2.6',
  download: 'M8 2.5v7.2M4.8 6.8 8 10l3.2-3.2M2.5 13h11',
  upload: 'M8 10V2.8M4.8 6 8 2.8 11.2 6M2.5 13h11',
  stop: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6 6h4v4H6z',
  server: 'M2.5 3h11v4.2h-11zM2.5 8.8h11V13h-11zM5 5.1v.1M5 10.9v.1'
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    viewBox="0 0 16 16"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
)
