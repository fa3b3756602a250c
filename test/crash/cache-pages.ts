/** The pages that the cache's crash test writes: told by their number alone. */

export function cachePage(n: number): { readonly url: string; readonly body: Uint8Array } {
  // every tenth is large enough to be written in parts
  const bytes = n % 10 === 0 ? 1_500_000 : 2000 + (n % 7) * 5000
  let state = n + 1
  const body = Uint8Array.from({ length: bytes }, (_, at) => {
    if (at % 3 !== 0) return 97
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
  return { url: `https://a.test/${n % 5}/page-${n}`, body }
}
