/** Very many products, made in the database. */
import type pg from 'pg'

/** Of five products three stand alone and two are a group, so that four of five are listed. */
const FILL = `
  insert into products (catalog_id, product_key, id, title, description, availability, condition, price, price_amount,
    price_currency, link, image_link, brand, product_type, item_group_id, content_hash, images_changed, created_at, updated_at)
  select $1, (4000000000000000000 + n)::text, 'sku-' || n, 'Canvas shoes, model ' || n, repeat('Light shoes for warm days. ', 10),
    'in stock', 'new', (n % 1000) || '.00 USD', (n % 1000) * 100, 'USD', 'https://shop.example.com/p/' || n,
    'https://shop.example.com/i/' || n || '.jpg', 'Acme', 'Shoes > Canvas', case when n % 5 < 3 then null else 'g' || n / 5 end,
    md5(n::text)::uuid, true, now(), now()
  from generate_series($2::int, $3::int) n`
const GROUPS = `
  insert into item_groups select catalog_id, item_group_id, (5000000000000000000 + row_number() over ())::text, min(product_key)
  from products where catalog_id = $1 and item_group_id is not null group by 1, 2`

export async function fillCatalog(pool: pg.Pool, catalogId: string, products: number) {
  for (let n = 0; n < products; n += 50_000) await pool.query(FILL, [catalogId, n, Math.min(products, n + 50_000) - 1])
  await pool.query(GROUPS, [catalogId])
  await pool.query('vacuum analyze products, item_groups')
}
