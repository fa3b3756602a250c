// Loaded before a command (NODE_OPTIONS=--import): both clocks of its machine are ahead by TEST_CLOCK_AHEAD_MS; time passes as elsewhere.

const aheadMs = Number(process.env['TEST_CLOCK_AHEAD_MS'] ?? 0)
const RightDate = globalThis.Date
const rightMonotonic = process.hrtime.bigint

globalThis.Date = class extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + aheadMs)
    else super(...given)
  }

  static now() {
    return RightDate.now() + aheadMs
  }
}
process.hrtime.bigint = () => rightMonotonic() + BigInt(aheadMs) * 1_000_000n
