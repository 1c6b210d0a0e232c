import { getRouteApi, Link } from '@tanstack/react-router'
import { Page } from '../../ui/page.tsx'
import { DeliveryView } from './delivery.tsx'

const route = getRouteApi('/shell/deliveries/$deliveryId')

export function DeliveryPage() {
  const { deliveryId } = route.useParams()
  return (
    <Page title="Delivery" above={<Link to="/webhooks">Webhooks</Link>}>
      <div style={{ maxWidth: '56rem' }}>
        <DeliveryView id={deliveryId} />
      </div>
    </Page>
  )
}
