/**
 * By which prices. `known`: what a currency is worth, or was when its price was last known; it decides whether a debt
 * is still covered. `firm`: what has no price to rely on is worth nothing; whatever takes more risk, or lets money
 * leave, is measured so.
 */
export type Trust = 'known' | 'firm'
