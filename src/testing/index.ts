/** What `spoor/testing` publishes: a fault-injecting site, shapes of sites, a clock for tests. */

export { createFakeClock } from './fake-clock.ts'
export type { FakeClock, FakeClockOptions } from './fake-clock.ts'
export { createRouter, pageHtml } from './site-answer.ts'
export type { SiteAnswer, SiteFault, SiteHandler, SiteRequest, SiteRoutes } from './site-answer.ts'
export { graphSite, treeSite } from './site-shapes.ts'
export type { SiteShape, TreeSiteOptions } from './site-shapes.ts'
export { openTestSite } from './site.ts'
export type { SiteLogEntry, TestSite, TestSiteOptions } from './site.ts'
