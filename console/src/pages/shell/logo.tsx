export const Logo = ({ size = 24 }: { size?: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#4338ca" />
    <path d="M9 8v16M23 8v16M9 16h14" stroke="#fff" strokeWidth="3.2" strokeLinecap="round" />
    <circle cx="23" cy="8" r="3" fill="#fbbf24" />
  </svg>
)
