import { Table, type TableSpec } from '../../../machine/table.ts'
import {
  completeContract,
  isTemplate,
  templateId,
  type ContractOverlay,
  type GivenContract,
} from './contract-rules.ts'
import { compileContract, contractId, type Contract, type ContractConfig, type Cycle } from './contracts.ts'

/** A dated contract: which template it is made of, and where it stands. */
export interface ListedContract {
  readonly id: string
  readonly template: string
  readonly name: string
  readonly cycle: Cycle
  /** Unix seconds. */
  readonly create_time: number
  readonly expire_time: number
  readonly phase: 'listed' | 'settling' | 'ended'
  /** Its rules when it ended: what it was then does not follow the file any more. */
  readonly config: ContractConfig | null
}
export const LISTED_CONTRACT: TableSpec<ListedContract> = {
  name: 'listed_contract',
  key: ['id'],
  columns: {
    id: 'text',
    template: 'text',
    name: 'text',
    cycle: 'text',
    create_time: 'int',
    expire_time: 'int',
    phase: 'text',
    config: 'json',
  },
}

/** What contracts need of the world around them. */
export interface Around {
  /** Decimals of a currency; undefined: there is none. */
  precisionOf(currency: string): number | undefined
  overlayOf(id: string): ContractOverlay | undefined
}
/** By group, settle and name. */
type ByName = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, Contract>>>
function namesOf(contracts: Iterable<Contract>): ByName {
  const byName = new Map<string, Map<string, Map<string, Contract>>>()
  for (const contract of contracts) {
    let settles = byName.get(contract.group)
    if (settles === undefined)
      byName.set(contract.group, (settles = new Map<string, Map<string, Contract>>()))
    let names = settles.get(contract.settle)
    if (names === undefined) settles.set(contract.settle, (names = new Map<string, Contract>()))
    names.set(contract.name, contract)
  }
  return byName
}
/** Every contract there is or was: those of the file, and those that templates of the file were listed as. */
export class Contracts {
  readonly listed = new Table(LISTED_CONTRACT)
  private readonly around: Around
  private compiled = new Map<string, Contract>()
  private made = new Map<string, ContractConfig>()
  private traded: readonly Contract[] | undefined
  private byName: ByName | undefined

  constructor(around: Around) {
    this.around = around
    this.listed.observe((before, after) => {
      if (before !== undefined) this.compiled.delete(before.id)
      if (after !== undefined) this.compileListed(after)
      this.traded = this.byName = undefined
    })
  }
  /** The file, a currency, or an operator's change is another one. */
  lay(file: readonly GivenContract[]): void {
    this.compiled = new Map()
    this.made = new Map()
    this.traded = this.byName = undefined
    for (const given of file) {
      const config = completeContract(given)
      if (isTemplate(config)) this.made.set(templateId(config), config)
      else this.compile(config, undefined)
    }
    for (const row of this.listed.values()) this.compileListed(row)
  }
  find(id: string): Contract | undefined {
    return this.compiled.get(id)
  }
  /** As a client names it, in its own letters: looked up without putting an id together. */
  named(group: string, settle: string, name: string): Contract | undefined {
    this.byName ??= namesOf(this.compiled.values())
    return this.byName.get(group)?.get(settle)?.get(name)
  }
  /** Those that have not ended, by id. */
  get open(): readonly Contract[] {
    this.traded ??= [...this.compiled.values()]
      .filter(({ config }) => config.status !== 'delisted')
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    return this.traded
  }
  get all(): readonly Contract[] {
    return [...this.compiled.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  }
  /** What dated contracts are made of, by id. */
  get templates(): ReadonlyMap<string, ContractConfig> {
    return this.made
  }
  private compileListed(row: ListedContract): void {
    const { template, name, cycle, create_time, expire_time, phase } = row
    if (phase === 'ended') {
      if (row.config !== null) this.compile({ ...row.config, status: 'delisted' }, undefined)
      return
    }
    const made = this.made.get(template)
    if (made !== undefined)
      this.compile({ ...made, name, cycle, create_time, launch_time: create_time, expire_time }, phase)
  }
  private compile(given: ContractConfig, phase: ListedContract['phase'] | undefined): void {
    const { group, settle, name } = given
    const id = contractId(group, settle, name)
    const precision = this.around.precisionOf(settle.toUpperCase())
    if (precision === undefined) return
    const { status, ...change } = this.around.overlayOf(id) ?? {}
    const settling = phase === 'settling' || status === 'settling'
    const config: ContractConfig = {
      ...given,
      ...change,
      ...(status !== undefined && status !== 'settling' && { status }),
    }
    this.compiled.set(id, compileContract(config, precision, settling))
  }
}
