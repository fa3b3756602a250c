/** The published conformance suite of stores: every invariant of the contract, by number, on any store. */

import { deepEqual } from 'node:assert/strict'
import type { FrontierCapabilities } from '../frontier/contract.ts'
import { knownCases } from './suite/known-cases.ts'
import { leaseCases, unpacedCases } from './suite/lease-cases.ts'
import { durableLinkCases, linkCases } from './suite/link-cases.ts'
import { depthCases, orderCases } from './suite/order-cases.ts'
import { queryCases, waitCases } from './suite/query-cases.ts'
import { redirectCases } from './suite/redirect-cases.ts'
import { closeCases, durableCases, itemCases, sharedCases, stateCases } from './suite/store-cases.ts'
import { runCases } from './suite/subject.ts'
import { visitCases } from './suite/visit-cases.ts'
import type { SuiteCases, SuiteOptions } from './suite/subject.ts'

export type { SuiteOptions, SuiteRunner, SuiteSubject } from './suite/subject.ts'

export interface FrontierSuiteOptions extends SuiteOptions {
  /** What the store says of itself: chooses the cases. */
  readonly capabilities: FrontierCapabilities
}

/** Declares the cases with the runner; `open` is called once a case. */
export function frontierSuite(options: FrontierSuiteOptions): void {
  const { capabilities } = options
  runCases(options, 'its manifest', manifestCases(capabilities))
  runCases(options, 'the known-set', knownCases)
  runCases(options, 'leases', leaseCases)
  runCases(options, 'order', orderCases)
  runCases(options, 'depth', depthCases)
  runCases(options, 'redirects', redirectCases)
  runCases(options, 'questions', queryCases)
  runCases(options, 'waiting', waitCases)
  runCases(options, 'closing', closeCases)
  if (capabilities.unpaced === true) runCases(options, 'leases beside politeness', unpacedCases)
  if (capabilities.visits === true) runCases(options, 'what is remembered of pages', visitCases)
  if (capabilities.durable) runCases(options, 'after a crash', durableCases)
  if (capabilities.shared) runCases(options, 'several owners', sharedCases)
}

/** A suite that was told less than the store says of itself would leave cases out. */
function manifestCases(told: FrontierCapabilities): SuiteCases {
  return {
    'is what the suite was told': async ({ store }) => {
      deepEqual({ ...store.frontier.capabilities }, { ...told })
    },
  }
}

/** The parts of a store beside its frontier. */
export function itemSuite(options: SuiteOptions): void {
  runCases(options, 'items', itemCases)
}

export function stateSuite(options: SuiteOptions): void {
  runCases(options, 'state', stateCases)
}

/** For stores that keep links. */
export function linkSuite(options: FrontierSuiteOptions): void {
  runCases(options, 'links', linkCases)
  if (options.capabilities.durable) runCases(options, 'links after a crash', durableLinkCases)
}
