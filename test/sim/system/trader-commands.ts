/** Which commands the reference of contracts carries out, and what brings it up to date. */

/** What somebody asks for, of the reference as of the platform. */
export const OWN =
  /^(?:futures\.(?:place|amend|cancel|leverage|margin|risk|dual|price_order|trail|chase)|transfer\.create|user\.credit)/
/** What brings the prices of all contracts up to date, whatever else it does. */
export const FOLLOWS: ReadonlySet<string> = new Set([
  'prices.expire',
  'world.configure',
  'world.live',
  'futures.begin',
  'agents.pace',
])
/** What falls due in a contract. */
export const OF_CONTRACT: ReadonlySet<string> = new Set([
  'futures.fund',
  'futures.unwind',
  'futures.fire',
  'futures.chase.look',
])
/** Whether any of these may be among recorded commands: most are about something else. */
export const ABOUT =
  /"(?:futures|agents|prices|world)\.|"due\.run"|"margin\.check"|"transfer\.create"|"user\.credit"/
