/** The Prometheus client, which scripts/bundle.mjs brings along: nobody installs it with Spoor. */

export { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
