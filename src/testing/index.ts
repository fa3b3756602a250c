/** What `spoor/testing` publishes: the conformance suite of stores, a fault-injecting site, shapes of sites, a clock. */

export { createFakeClock } from './fake-clock.ts'
export type { FakeClock, FakeClockOptions } from './fake-clock.ts'
export { frontierSuite, itemSuite, linkSuite, stateSuite } from './frontier-suite.ts'
export type { FrontierSuiteOptions, SuiteOptions, SuiteRunner, SuiteSubject } from './frontier-suite.ts'
export { exporterSuite } from './exporter-suite.ts'
export type { ExporterSuiteOptions, ExporterSuiteRunner } from './exporter-suite.ts'
export { createRouter, pageHtml } from './site-answer.ts'
export type { SiteAnswer, SiteFault, SiteHandler, SiteRequest, SiteRoutes } from './site-answer.ts'
export { graphSite, treeSite } from './site-shapes.ts'
export type { SiteShape, TreeSiteOptions } from './site-shapes.ts'
export { openTestSite } from './site.ts'
export type { SiteLogEntry, TestSite, TestSiteOptions } from './site.ts'
