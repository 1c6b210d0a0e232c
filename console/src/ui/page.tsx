import { type ReactNode, useEffect } from 'react'

/** The head of a page: where it is, what it is, what can be done. Sets the title of the tab. */
export function Page({
  title,
  lead,
  above,
  actions,
  children
}: {
  title: string
  lead?: ReactNode
  /** Links to the pages that this one belongs to. */
  above?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = title === 'Herald' ? title : `${title} · Herald`
  }, [title])
  return (
    <>
      <div className="page-head">
        <div>
          {above ? (
            <nav className="crumbs" aria-label="Breadcrumb">
              {above}
              <span aria-hidden="true">/</span>
            </nav>
          ) : null}
          <h1>{title}</h1>
          {lead ? <div className="lead">{lead}</div> : null}
        </div>
        {actions ? <div className="row wrap">{actions}</div> : null}
      </div>
      {children}
    </>
  )
}
