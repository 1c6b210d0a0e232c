/** What only the operator of a Herald needs: the test clock. */
import type { Deps } from '../deps.ts'
import type { Domain } from '../domain.ts'
import { clockRoutes, type DueWork } from './clock.ts'

export function createOperator(deps: Deps, work: DueWork): Domain {
  return {
    name: 'operator',
    admin: (app) => clockRoutes(app, deps, work)
  }
}
