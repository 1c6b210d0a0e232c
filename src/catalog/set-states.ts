/** `processing_status` of a product set; docs/states/product-set.md shows the same table. */
export const SET_STATUSES = ['DONE', 'PROCESSING', 'FAILED'] as const
export type SetStatus = (typeof SET_STATUSES)[number]

export const SET_TRANSITIONS: readonly { from: SetStatus | 'none'; cause: string; to: SetStatus }[] = [
  { from: 'none', cause: 'MANUAL set created', to: 'DONE' },
  { from: 'none', cause: 'FILTERED set created, small catalog', to: 'DONE' },
  { from: 'none', cause: 'FILTERED set created, large catalog', to: 'PROCESSING' },
  { from: 'PROCESSING', cause: 'every product has been looked at', to: 'DONE' },
  { from: 'PROCESSING', cause: 'computing failed for the last time', to: 'FAILED' },
  { from: 'DONE', cause: 'an import changed many products', to: 'PROCESSING' },
  { from: 'FAILED', cause: 'an import changed many products', to: 'PROCESSING' }
]
