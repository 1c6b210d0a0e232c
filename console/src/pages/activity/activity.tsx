import { Page } from '../../ui/page.tsx'

export const ActivityPage = () => <Page title="Activity">…</Page>
