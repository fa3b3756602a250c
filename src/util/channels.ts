/** The `diagnostics_channel`s of a crawl: what is published costs nothing while nobody listens. See docs/metrics.md. */

import { channel, type Channel } from 'node:diagnostics_channel'

/** Every channel, for documentation and its check. */
export const CHANNEL_NAMES = [
  'spoor:fetch',
  'spoor:page',
  'spoor:skipped',
  'spoor:redirected',
  'spoor:retry',
  'spoor:failed',
  'spoor:lost',
] as const
export type ChannelName = (typeof CHANNEL_NAMES)[number]

const CHANNELS = Object.fromEntries(CHANNEL_NAMES.map((name) => [name, channel(name)])) as Record<ChannelName, Channel>

/** `message` is made only when somebody listens. A listener that throws is its own trouble: Node reports it apart. */
export function publish(name: ChannelName, message: () => object): void {
  const one = CHANNELS[name]
  if (one.hasSubscribers) one.publish(message())
}
