/** Light, dark, or as the system has it, also when that changes. */
export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEY = 'herald-theme'
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)')

export const currentTheme = (): Theme => {
  const kept = localStorage.getItem(KEY)
  return THEMES.find((theme) => theme === kept) ?? 'system'
}

function show() {
  const theme = currentTheme()
  const dark = theme === 'dark' || (theme === 'system' && systemIsDark.matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
}

export function applyTheme(theme: Theme) {
  localStorage.setItem(KEY, theme)
  show()
}

systemIsDark.addEventListener('change', show)
show()
