/** A few strokes, drawn here: no icon font, no file. */
const PATHS = {
  trade: 'M4 18l5-6 4 3 7-9M14 6h6v6',
  futures: 'M7 3v4M7 15v4M4 7h6v8H4zM17 5v3M17 17v4M14 8h6v9h-6z',
  wallet: 'M4 7h14a2 2 0 012 2v9a2 2 0 01-2 2H4zM4 7l11-3v3M16 13h1',
  unified: 'M12 3a9 9 0 109 9h-9zM15 3.500A8 8 0 0120.500 9H15z',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  lab: 'M9 3h6M10 3v6l-5 9a2 2 0 002 3h10a2 2 0 002-3l-5-9V3M7 15h10',
  operate: 'M12 3l8 4v5c0 5-3.500 8-8 9-4.500-1-8-4-8-9V7zM9 12l2 2 4-4',
  sun: 'M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5',
  moon: 'M20 14.500A8.500 8.500 0 019.500 4 8.500 8.500 0 1020 14.500z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  search: 'M10.500 4a6.500 6.500 0 100 13 6.500 6.500 0 000-13zM15.500 15.500L20 20',
} as const
export type IconName = keyof typeof PATHS
export function Icon({
  name,
  size = 18,
}: {
  readonly name: IconName
  readonly size?: number
}): React.JSX.Element {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
