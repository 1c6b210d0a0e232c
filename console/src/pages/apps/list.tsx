import { Page } from '../../ui/page.tsx'

export const AppList = () => <Page title="Apps">…</Page>
