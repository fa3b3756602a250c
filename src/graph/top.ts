/** The few that come first of many, and how many there were. */

export class Top<T> {
  readonly #max: number
  readonly #places: { readonly score: number; readonly entry: T }[] = []
  /** Of all that were offered. */
  count = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Higher scores come first; of equal ones, who came first. */
  offer(score: number, entry: T): void {
    this.count++
    const last = this.#places.at(-1)
    if (this.#places.length >= this.#max && (last === undefined || last.score >= score)) return
    const at = this.#places.findIndex((place) => place.score < score)
    this.#places.splice(at < 0 ? this.#places.length : at, 0, { score, entry })
    if (this.#places.length > this.#max) this.#places.pop()
  }

  list(): readonly T[] {
    return this.#places.map(({ entry }) => entry)
  }
}
