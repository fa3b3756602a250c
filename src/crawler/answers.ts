/** Answers that need neither a store nor the network: what the command's `canon`, `links` and `robots` print. */

import { answerLinks, type LinksAnswer, type LinksQuestion } from '../extract/links-answer.ts'
import { createResolver } from '../url/resolve.ts'

export { type CanonAnswer, canonAnswer } from '../url/canon-answer.ts'
export { robotsAnswer } from '../robots/answer.ts'
export type { LinksAnswer, LinksQuestion }

/** With the resolver that a crawl uses, so that it lists what a crawl would see. */
export function linksAnswer(question: LinksQuestion): LinksAnswer {
  return answerLinks(question, { resolve: createResolver })
}
