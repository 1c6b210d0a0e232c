/** The little geometry that point_radius: and bounding_box: need. Degrees in, kilometres out. */
const EARTH_RADIUS_KM = 6371.0088
export const KM_PER_MILE = 1.609344

/** west, south, east, north; a point has no extent. */
export type Box = [west: number, south: number, east: number, north: number]

export interface Circle {
  longitude: number
  latitude: number
  radiusKm: number
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

export function distanceKm(longitude: number, latitude: number, otherLongitude: number, otherLatitude: number): number {
  const sinLatitude = Math.sin(radians(otherLatitude - latitude) / 2)
  const sinLongitude = Math.sin(radians(otherLongitude - longitude) / 2)
  const h = sinLatitude ** 2 + Math.cos(radians(latitude)) * Math.cos(radians(otherLatitude)) * sinLongitude ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** A place is in a region only when all of it is. */
export const boxInBox = ([west, south, east, north]: Box, region: Box) =>
  west >= region[0] && south >= region[1] && east <= region[2] && north <= region[3]

export const boxInCircle = ([west, south, east, north]: Box, { longitude, latitude, radiusKm }: Circle) =>
  [west, east].every((x) => [south, north].every((y) => distanceKm(longitude, latitude, x, y) <= radiusKm))

/** Width at the side nearer to the equator, where it is largest, and height. */
export function boxSidesKm([west, south, east, north]: Box): [width: number, height: number] {
  const widest = south <= 0 && north >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north))
  return [distanceKm(west, widest, east, widest), distanceKm(west, south, west, north)]
}

/** A box around a circle, for the index; near a pole it goes all the way round. */
export function boxAround({ longitude, latitude, radiusKm }: Circle): Box {
  const height = (radiusKm / EARTH_RADIUS_KM) * (180 / Math.PI) * 1.001
  const nearestPole = Math.abs(latitude) + height
  if (nearestPole >= 89.9) return [-180, latitude - height, 180, latitude + height]
  const width = height / Math.cos(radians(nearestPole))
  return [longitude - width, latitude - height, longitude + width, latitude + height]
}

/** Names of the one-degree cells that a box touches; what lies beyond ±180 continues on the other side. */
export function cellsOf([west, south, east, north]: Box): string[] {
  const cells = new Set<string>()
  for (let y = Math.floor(south); y <= Math.floor(north); y++) {
    for (let x = Math.floor(west); x <= Math.floor(east); x++) cells.add(cellOf(x, y))
  }
  return [...cells]
}

export const cellOf = (longitude: number, latitude: number) =>
  `${((Math.floor(longitude) % 360) + 360) % 360}:${Math.floor(latitude)}`
