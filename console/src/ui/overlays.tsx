/** Dialogs, drawers, menus and messages, on Base UI: focus, Escape and screen readers are its business. */
import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { Menu as BaseMenu } from '@base-ui/react/menu'
import { Toast } from '@base-ui/react/toast'
import { type ReactElement, type ReactNode, useState } from 'react'
import { sentence } from '../client/api.ts'
import { Problem } from './bits.tsx'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

export interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  about?: ReactNode
  wide?: boolean
  children: ReactNode
}

export const Dialog = ({ open, onClose, title, about, wide, children }: DialogProps) => (
  <BaseDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <BaseDialog.Portal>
      <BaseDialog.Backdrop className="backdrop" />
      <BaseDialog.Popup className={`dialog ${wide ? 'wide' : ''}`}>
        <BaseDialog.Title>{title}</BaseDialog.Title>
        {about ? <BaseDialog.Description className="muted">{about}</BaseDialog.Description> : null}
        {children}
      </BaseDialog.Popup>
    </BaseDialog.Portal>
  </BaseDialog.Root>
)

/** A side panel for one thing of a list; the list stays where it is. */
export const Drawer = ({ open, onClose, title, children }: Omit<DialogProps, 'about' | 'wide'>) => (
  <BaseDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <BaseDialog.Portal>
      <BaseDialog.Backdrop className="backdrop" />
      <BaseDialog.Popup className="drawer">
        <div className="row spread" style={{ marginBottom: '1rem' }}>
          <BaseDialog.Title>{title}</BaseDialog.Title>
          <Button variant="ghost" icon="cross" aria-label="Close" onClick={onClose} />
        </div>
        {children}
      </BaseDialog.Popup>
    </BaseDialog.Portal>
  </BaseDialog.Root>
)

export interface ConfirmProps {
  open: boolean
  onClose: () => void
  title: string
  /** What happens then, and whether it can be undone. */
  children: ReactNode
  action: string
  busy?: string
  danger?: boolean
  onConfirm: () => Promise<unknown>
}

/** Asks before what is costly or cannot be undone. */
export function Confirm({
  open,
  onClose,
  title,
  children,
  action,
  busy = 'Working …',
  danger = true,
  onConfirm
}: ConfirmProps) {
  const [state, setState] = useState<{ working: boolean; error?: unknown }>({ working: false })
  const confirm = async () => {
    setState({ working: true })
    try {
      await onConfirm()
      setState({ working: false })
      onClose()
    } catch (error) {
      setState({ working: false, error })
    }
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div className="muted" />}>{children}</AlertDialog.Description>
          {state.error ? <Problem error={state.error} /> : null}
          <div className="actions">
            <Button onClick={onClose}>Cancel</Button>
            <Button variant={danger ? 'danger' : 'primary'} busy={state.working && busy} onClick={() => void confirm()}>
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

export interface MenuEntry {
  label: string
  icon?: IconName
  danger?: boolean
  onSelect: () => void
}

export const Menu = ({
  trigger,
  entries
}: {
  trigger: ReactElement<Record<string, unknown>>
  entries: (MenuEntry | 'separator')[]
}) => (
  <BaseMenu.Root>
    <BaseMenu.Trigger render={trigger} />
    <BaseMenu.Portal>
      <BaseMenu.Positioner sideOffset={6} align="start" style={{ zIndex: 40 }}>
        <BaseMenu.Popup className="popup">
          {entries.map((entry, i) =>
            entry === 'separator' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: separators have nothing else
              <BaseMenu.Separator key={i} className="separator" />
            ) : (
              <BaseMenu.Item
                key={entry.label}
                className={`item ${entry.danger ? 'danger' : ''}`}
                onClick={entry.onSelect}
              >
                {entry.icon ? <Icon name={entry.icon} /> : null}
                {entry.label}
              </BaseMenu.Item>
            )
          )}
        </BaseMenu.Popup>
      </BaseMenu.Positioner>
    </BaseMenu.Portal>
  </BaseMenu.Root>
)

const toasts = Toast.createToastManager()

/** Says briefly that something was done; what needs an answer is no message but a dialog. */
export const say = (title: string, description?: string) =>
  toasts.add({ title, ...(description ? { description } : {}), type: 'good', timeout: 4_000 })
export const sayProblem = (error: unknown) =>
  toasts.add({ title: sentence(error), type: 'bad', timeout: 10_000, priority: 'high' })

export const Messages = ({ children }: { children: ReactNode }) => (
  <Toast.Provider toastManager={toasts}>
    {children}
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <MessageList />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)

function MessageList() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast" swipeDirection={[]}>
      <span className={toast.type === 'bad' ? 'bad' : 'good'}>
        <Icon name={toast.type === 'bad' ? 'alert' : 'check'} />
      </span>
      <div>
        <Toast.Title render={<p />} />
        {toast.description ? <Toast.Description className="muted small" /> : null}
      </div>
      <Toast.Close render={<Button variant="ghost" size="small" icon="cross" aria-label="Dismiss" />} />
    </Toast.Root>
  ))
}
