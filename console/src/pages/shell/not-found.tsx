import { Link } from '@tanstack/react-router'
import { Empty } from '../../ui/bits.tsx'

export const NotFound = () => (
  <main className="main">
    <Empty icon="question" title="There is no such page" action={<Link to="/">Go to the home page</Link>}>
      The address may have been mistyped, or what it showed is gone.
    </Empty>
  </main>
)
