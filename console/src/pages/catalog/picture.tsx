/** The picture of a product, fetched for us by the server; a calm place where there is none. */
import { useState } from 'react'
import { Icon } from '../../ui/icon.tsx'
import type { CatalogAt } from './api.ts'

/** Another address of the image is another picture, also for the browser's cache. */
const version = (url: string) => {
  let hash = 5381
  for (let i = 0; i < url.length; i++) hash = ((hash << 5) + hash + url.charCodeAt(i)) | 0
  return (hash >>> 0).toString(36)
}

export const pictureAddress = ({ listener, id }: CatalogAt, productKey: string, url: string, position = 0) =>
  `/console/pictures/${listener}/${id}/${productKey}/${position}?v=${version(url)}`

/** Beside a title, so it says nothing itself. */
export function Picture({
  catalog,
  product,
  position = 0
}: {
  catalog: CatalogAt
  product: { product_key: string; image_link: string }
  position?: number
}) {
  const address = pictureAddress(catalog, product.product_key, product.image_link, position)
  const [broken, setBroken] = useState<string>()
  return (
    <span className="picture">
      {broken === address ? (
        <span className="picture-none" title="This picture cannot be shown">
          <Icon name="picture" size={22} />
        </span>
      ) : (
        <img src={address} alt="" loading="lazy" decoding="async" onError={() => setBroken(address)} />
      )}
    </span>
  )
}
