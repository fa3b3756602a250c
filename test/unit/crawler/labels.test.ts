/** User data is typed by its label: what does not fit is refused by the compiler. */

import { expectTypeOf, it } from 'vitest'
import { createRouter, defineTask } from '../../../src/index.ts'

interface Labels {
  detail: { sku: string }
  list: { page?: number }
}

it('in handlers of a router, in rules of a task, and wherever requests are made', () => {
  const router = createRouter<Labels>()
  router.addHandler('detail', async ({ request, enqueueLinks, addRequests }) => {
    expectTypeOf(request.userData).toEqualTypeOf<{ sku: string }>()
    await enqueueLinks({ label: 'detail', userData: { sku: '1' } })
    await enqueueLinks({ label: 'list' })
    await addRequests([{ url: '/x', label: 'list', userData: { page: 2 } }, '/y'])
    // @ts-expect-error -- another kind of user data
    await enqueueLinks({ label: 'detail', userData: { sku: 1 } })
    // @ts-expect-error -- user data is wanted
    await enqueueLinks({ label: 'detail' })
    // @ts-expect-error -- no such label
    await addRequests([{ url: '/x', label: 'other' }])
  })
  // @ts-expect-error -- no such label
  router.addHandler('other', () => undefined)

  defineTask<Labels>({
    name: 'typed',
    rules: [
      { label: 'detail', handler: ({ request }) => ({ sku: request.userData.sku }) },
      { label: 'list', handler: ({ request }) => ({ page: request.userData.page ?? 1 }) },
      // @ts-expect-error -- no such field
      { label: 'list', handler: ({ request }) => ({ sku: request.userData.sku }) },
    ],
  })
})
