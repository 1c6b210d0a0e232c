/** Secrets are shown in the answer that makes them, this once; when the dialog closes, the page has forgotten them. */
import './apps.css'
import { Callout, CopyButton } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays.tsx'

export type Secrets = readonly (readonly [name: string, value: string])[]

export const SecretList = ({ secrets }: { secrets: Secrets }) => (
  <dl className="secrets">
    {secrets.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <code>{value}</code>
          <CopyButton text={value} label={`Copy ${name.toLowerCase()}`} />
        </dd>
      </div>
    ))}
  </dl>
)

export const SecretsDialog = ({
  title,
  about,
  secrets,
  onClose
}: {
  title: string
  about?: string | undefined
  secrets: Secrets | undefined
  onClose: () => void
}) => (
  <Dialog open={secrets !== undefined} onClose={onClose} title={title} about={about} wide>
    <div className="stack" style={{ marginTop: '1rem' }}>
      <Callout tone="warn">
        Copy what you need now. Herald keeps only what it needs to check them, and cannot show them again.
      </Callout>
      {secrets ? <SecretList secrets={secrets} /> : null}
      <div className="actions">
        <CopyButton text={(secrets ?? []).map(([name, value]) => `${name}: ${value}`).join('\n')}>Copy all</CopyButton>
        <Button variant="primary" onClick={onClose}>
          I have saved them
        </Button>
      </div>
    </div>
  </Dialog>
)
