/**
 * With KONTOR_TEST_GATEWAYS every platform of the tests has so many gateways, unless a test says otherwise: what holds
 * over HTTP holds in both ways. See test/gateway/same-tests.test.ts.
 */
export const gatewaysAsked = (): Record<string, string> => ({
  KONTOR_GATEWAYS: process.env['KONTOR_TEST_GATEWAYS'] ?? '0',
})
