/** KONTOR_TESTS=long: the sizes that are not for every change; docs/simulation.md lists them. */
export const LONG = process.env['KONTOR_TESTS'] === 'long'
