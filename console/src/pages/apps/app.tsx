import { Page } from '../../ui/page.tsx'

export const AppPage = () => <Page title="App">…</Page>
