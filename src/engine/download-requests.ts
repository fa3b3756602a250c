/** Files that pages show or offer: requests like any other, whose answer is kept as a file (settle-download.ts). */

import type { StoredRequest } from '../core/request.ts'
import type { ExtractSchema } from '../extract/schema/contract.ts'
import type { DownloadOptions } from './contract.ts'
import type { OpenPage } from './page.ts'
import { type Doorway, enqueueDraft } from './page-buffer.ts'

/** Of such requests. */
export const DOWNLOAD_LABEL = 'spoor:download'
/** Of one page. */
const MAX_DOWNLOADS = 10_000

export const isDownload = ({ label }: Pick<StoredRequest, 'label'>): boolean => label === DOWNLOAD_LABEL

export interface DownloadPlace {
  readonly way: Doorway
  /** The page that shows or offers it. */
  readonly page: string
  /** Relative URLs are resolved against it. */
  readonly base: string
}

/** A file is part of its page: it lies at the same depth. */
export function enqueueDownload(
  { way, page, base }: DownloadPlace,
  url: string,
  { priority, cache, userData }: DownloadOptions = {},
): void {
  const draft = {
    url,
    label: DOWNLOAD_LABEL,
    userData: { ...userData, page },
    ...(priority === undefined ? {} : { priority }),
    ...(cache === undefined ? {} : { cache }),
  }
  enqueueDraft({ ...way, depth: way.depth - 1 }, draft, base)
}

/** What the task's fields find on the page. */
export async function enqueueFound(
  place: Omit<DownloadPlace, 'base'>,
  page: OpenPage,
  schema: ExtractSchema,
): Promise<void> {
  const found = new Set(Object.values(await page.fields(schema)).flat())
  let left = MAX_DOWNLOADS
  for (const url of found) {
    if (typeof url !== 'string' || left-- <= 0) continue
    enqueueDownload({ ...place, base: page.scan.base }, url)
  }
}
