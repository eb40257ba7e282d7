export { contractRates, type ContractRates } from '../contract-margin/fees.ts'
