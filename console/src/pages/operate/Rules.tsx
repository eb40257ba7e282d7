import { Tabs } from '@mantine/core'
import { Page } from '../../parts/Page.tsx'
import { Currencies } from './RulesOfCurrencies.tsx'
import { Chains } from './RulesOfChains.tsx'
import { Markets } from './RulesOfMarkets.tsx'
import { Contracts } from './RulesOfContracts.tsx'
import { Prices } from './RulesOfPrices.tsx'
import { Policy } from './RulesOfPolicy.tsx'

export function Rules(): React.JSX.Element {
  return (
    <Page
      title="Rules"
      lead="Currencies, chains, markets, contracts, prices and the policy of withdrawals. In live mode what guards money waits for a second person."
    >
      <Tabs defaultValue="currencies" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="currencies">Currencies</Tabs.Tab>
          <Tabs.Tab value="chains">Chains</Tabs.Tab>
          <Tabs.Tab value="markets">Markets</Tabs.Tab>
          <Tabs.Tab value="contracts">Contracts</Tabs.Tab>
          <Tabs.Tab value="prices">Prices</Tabs.Tab>
          <Tabs.Tab value="policy">Policy</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="currencies" pt="md">
          <Currencies />
        </Tabs.Panel>
        <Tabs.Panel value="chains" pt="md">
          <Chains />
        </Tabs.Panel>
        <Tabs.Panel value="markets" pt="md">
          <Markets />
        </Tabs.Panel>
        <Tabs.Panel value="contracts" pt="md">
          <Contracts />
        </Tabs.Panel>
        <Tabs.Panel value="prices" pt="md">
          <Prices />
        </Tabs.Panel>
        <Tabs.Panel value="policy" pt="md">
          <Policy />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
