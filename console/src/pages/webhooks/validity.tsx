import type { Webhook } from '../../client/resources.ts'
import { Badge } from '../../ui/bits.tsx'

export const Validity = ({ webhook }: { webhook: Pick<Webhook, 'valid' | 'last_crc_outcome'> }) =>
  webhook.valid ? (
    <Badge tone={webhook.last_crc_outcome === 'transient' ? 'warn' : 'good'} dot>
      Valid
    </Badge>
  ) : (
    <Badge tone="bad" dot>
      Invalid
    </Badge>
  )
