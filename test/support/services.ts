/** The database servers that tests use where there are any: named by the environment, never passed over in silence. */

export type ServiceName = 'POSTGRES' | 'REDIS' | 'MONGODB'

/** The URL of the server, from `SPOOR_TEST_<NAME>_URL`. Undefined: its tests are skipped, and one loud line says so. */
export function serviceUrl(name: ServiceName): string | undefined {
  const variable = `SPOOR_TEST_${name}_URL`
  const url = process.env[variable]
  if (url !== undefined && url !== '') return url
  console.error(`SKIPPED LOUDLY: ${variable} is not set: nothing is tested on a real ${name} server`)
  return undefined
}
