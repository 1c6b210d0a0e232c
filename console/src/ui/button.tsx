import type { ComponentProps, ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

export interface ButtonLook {
  variant?: 'primary' | 'secondary' | 'ghost' | 'danger' | undefined
  size?: 'small' | 'normal' | 'wide' | undefined
  icon?: IconName | undefined
}

export const buttonClass = ({ variant = 'secondary', size = 'normal' }: ButtonLook, iconOnly = false) =>
  ['button', variant === 'secondary' ? '' : variant, size === 'normal' ? '' : size, iconOnly ? 'icon' : '']
    .filter(Boolean)
    .join(' ')

type ButtonProps = Omit<ComponentProps<'button'>, 'children'> &
  ButtonLook & {
    /** Says what is under way; the button cannot be pressed again meanwhile. */
    busy?: string | false | undefined
    children?: ReactNode
  }

/** Without children, `aria-label` is what it says. */
export function Button({ variant, size, icon, busy, children, className, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      {...rest}
      className={[buttonClass({ variant, size }, children === undefined), className].filter(Boolean).join(' ')}
      disabled={rest.disabled || Boolean(busy)}
      {...(busy ? { 'data-busy': '' } : {})}
    >
      {icon ? <Icon name={icon} size={size === 'small' ? 14 : 16} /> : null}
      {busy || children}
    </button>
  )
}
