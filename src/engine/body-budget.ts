/** Bounds the bodies that are in memory at once: while they weigh too much, nothing new is leased. */

export interface BodyBudget {
  /** Nothing new should be begun. Never true while nothing is held. */
  readonly isUsedUp: boolean
  hold(): BodyHold
}

/** What the body of one request weighs so far. */
export interface BodyHold {
  readonly add: (bytes: number) => void
  /** The request is done with its body. Idempotent. */
  release(): void
}

/** One body that is larger than all of `maxBytes` goes on alone. */
export function createBodyBudget(maxBytes: number): BodyBudget {
  let used = 0
  return {
    get isUsedUp() {
      return used >= maxBytes
    },
    hold: () => {
      let held = 0
      return {
        add: (bytes) => {
          held += bytes
          used += bytes
        },
        release: () => {
          used -= held
          held = 0
        },
      }
    },
  }
}
