// Made by `npm run console-types` from the endpoints' declarations.
export interface Endpoints {
  /** Tells the platform's clock */
  'GET /api/v4/spot/time': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      server_time: number
    }
  }
  /** Lists the instruments of a group that this platform does not offer yet: none */
  'GET /api/v4/options/underlyings': {
    path: undefined
    query: undefined
    body: undefined
    reply: unknown[]
  }
  /** Moves funds between the own accounts; one side is spot */
  'POST /api/v4/wallet/transfers': {
    path: undefined
    query: undefined
    body: {
      currency: string
      from: "spot" | "margin" | "futures" | "delivery" | "options"
      to: "spot" | "margin" | "futures" | "delivery" | "options"
      amount: string
      currency_pair?: string
      settle?: string
    }
    reply: {
      tx_id: number
    }
  }
  /** Shows one transfer between accounts */
  'GET /api/v4/wallet/transfers': {
    path: undefined
    query: {
      tx_id: number
    }
    body: undefined
    reply: {
      tx_id: string
      status: string
      currency: string
      amount: string
      from_account: string
      to_account: string
      settle: string
      currency_pair: string
    }
  }
  /** Tells the status of a transfer, by tx_id or client_order_id */
  'GET /api/v4/wallet/order_status': {
    path: undefined
    query: {
      client_order_id?: string
      tx_id?: number
    }
    body: undefined
    reply: {
      tx_id: string
      status: string
    }
  }
  /** Lists the currencies with their chains */
  'GET /api/v4/spot/currencies': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency: string
      name: string
      delisted: boolean
      withdraw_disabled: boolean
      withdraw_delayed: boolean
      deposit_disabled: boolean
      trade_disabled: boolean
      fixed_rate: string
      chain: string
      total_supply: string
      market_cap: string
      chains: {
        name: string
        addr: string
        withdraw_disabled: boolean
        withdraw_delayed: boolean
        deposit_disabled: boolean
      }[]
      category: string[]
    }[]
  }
  /** Shows one currency */
  'GET /api/v4/spot/currencies/{currency}': {
    path: {
      currency: string
    }
    query: undefined
    body: undefined
    reply: {
      currency: string
      name: string
      delisted: boolean
      withdraw_disabled: boolean
      withdraw_delayed: boolean
      deposit_disabled: boolean
      trade_disabled: boolean
      fixed_rate: string
      chain: string
      total_supply: string
      market_cap: string
      chains: {
        name: string
        addr: string
        withdraw_disabled: boolean
        withdraw_delayed: boolean
        deposit_disabled: boolean
      }[]
      category: string[]
    }
  }
  /** Lists the chains of a currency */
  'GET /api/v4/wallet/currency_chains': {
    path: undefined
    query: {
      currency: string
    }
    body: undefined
    reply: {
      chain: string
      name_cn: string
      name_en: string
      contract_address: string
      is_disabled: number
      is_deposit_disabled: number
      is_withdraw_disabled: number
      decimal: string
      is_tag: number
    }[]
  }
  /** Gives the account's deposit addresses of a currency, one on each open chain */
  'GET /api/v4/wallet/deposit_address': {
    path: undefined
    query: {
      currency: string
    }
    body: undefined
    reply: {
      currency: string
      address: string
      min_deposit_amount: string
      multichain_addresses: {
        chain: string
        address: string
        payment_id: string
        payment_name: string
        obtain_failed: number
        min_confirms: number
      }[]
    }
  }
  /** Lists the account's deposits, newest first */
  'GET /api/v4/wallet/deposits': {
    path: undefined
    query: {
      currency?: string
      from?: number
      to?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
    }[]
  }
  /** Tells fees and limits of withdrawals, with what is left of today */
  'GET /api/v4/wallet/withdraw_status': {
    path: undefined
    query: {
      currency?: string
    }
    body: undefined
    reply: {
      currency: string
      name: string
      name_cn: string
      deposit: string
      withdraw_percent: string
      withdraw_fix: string
      withdraw_day_limit: string
      withdraw_day_limit_remain: string
      withdraw_amount_mini: string
      withdraw_eachtime_limit: string
      withdraw_fix_on_chains: Record<string, string>
      withdraw_percent_on_chains: Record<string, string>
    }[]
  }
  /** Lists the account's saved withdrawal addresses */
  'GET /api/v4/wallet/saved_address': {
    path: undefined
    query: {
      currency?: string
      chain?: string
      verified?: "0" | "1"
      limit?: number
      page?: number
    }
    body: undefined
    reply: {
      currency: string
      chain: string
      address: string
      name: string
      tag: string
      verified: string
    }[]
  }
  /** Lists the low-cap tokens: no chains, deposits or withdrawals through the API */
  'GET /api/v4/wallet/getLowCapExchangeList': {
    path: undefined
    query: undefined
    body: undefined
    reply: string[]
  }
  /** Withdraws to a saved and verified address; amount is gross, the fee is inside */
  'POST /api/v4/withdrawals': {
    path: undefined
    query: undefined
    body: {
      currency: string
      chain?: string
      amount: string
      address: string
      memo?: string
      withdraw_order_id?: string
      asset_class?: "SPOT" | "PILOT"
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      withdraw_id: string
      asset_class: string
    }
  }
  /** Cancels a withdrawal that was not sent yet; its money comes back */
  'DELETE /api/v4/withdrawals/{withdrawal_id}': {
    path: {
      withdrawal_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
    }
  }
  /** Lists the account's withdrawals, newest first */
  'GET /api/v4/wallet/withdrawals': {
    path: undefined
    query: {
      currency?: string
      withdraw_id?: string
      asset_class?: "SPOT" | "PILOT"
      withdraw_order_id?: string
      from?: number
      to?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
    }[]
  }
  /** Sends money to another main account by its user id */
  'POST /api/v4/withdrawals/push': {
    path: undefined
    query: undefined
    body: {
      receive_uid: number
      currency: string
      amount: string
    }
    reply: {
      id: number
    }
  }
  /** Lists transfers by user id that were sent (withdraw) or received (deposit), newest first */
  'GET /api/v4/wallet/push': {
    path: undefined
    query: {
      id?: number
      from?: number
      to?: number
      limit?: number
      offset?: number
      transaction_type?: "withdraw" | "deposit"
    }
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
    }[]
  }
  /** Moves money between the main account's spot account and a sub-account */
  'POST /api/v4/wallet/sub_account_transfers': {
    path: undefined
    query: undefined
    body: {
      sub_account: number
      sub_account_type?: "spot" | "futures" | "delivery" | "options"
      currency: string
      amount: string
      direction: "to" | "from"
      client_order_id?: string
    }
    reply: {
      tx_id: number
    }
  }
  /** Lists transfers between the main account and its sub-accounts, newest first */
  'GET /api/v4/wallet/sub_account_transfers': {
    path: undefined
    query: {
      sub_uid?: number[]
      from?: number
      to?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      timest: string
      uid: string
      sub_account: string
      sub_account_type: string
      currency: string
      amount: string
      direction: string
      source: string
      client_order_id: string
      status: string
    }[]
  }
  /** Moves money between two sub-accounts, with the main account's key or the source's own */
  'POST /api/v4/wallet/sub_account_to_sub_account': {
    path: undefined
    query: undefined
    body: {
      currency: string
      sub_account_type?: string
      sub_account_from: number
      sub_account_from_type: "spot" | "futures" | "delivery"
      sub_account_to: number
      sub_account_to_type: "spot" | "futures" | "delivery"
      amount: string
    }
    reply: {
      tx_id: number
    }
  }
  /** Values all of the account's holdings at index prices; up to a minute old */
  'GET /api/v4/wallet/total_balance': {
    path: undefined
    query: {
      currency?: "BTC" | "CNY" | "USD" | "USDT"
    }
    body: undefined
    reply: {
      details: Record<string, {
        currency: string
        amount: string
        unrealised_pnl?: string
        borrowed?: string
      }>
      total: {
        currency: string
        amount: string
        unrealised_pnl: string
        borrowed: string
      }
    }
  }
  /** Spot balances of the sub-accounts */
  'GET /api/v4/wallet/sub_account_balances': {
    path: undefined
    query: {
      sub_uid?: number[]
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      uid: string
      available: Record<string, string>
      locking: Record<string, string>
    }[]
  }
  /** Isolated margin balances of the sub-accounts */
  'GET /api/v4/wallet/sub_account_margin_balances': {
    path: undefined
    query: {
      sub_uid?: number[]
    }
    body: undefined
    reply: {
      uid: string
      available: {
        currency_pair: string
        account_type: string
        leverage: string
        locked: boolean
        risk: string
        mmr: string
        base: {
          currency: string
          available: string
          locked: string
          borrowed: string
          interest: string
        }
        quote: {
          currency: string
          available: string
          locked: string
          borrowed: string
          interest: string
        }
      }[]
    }[]
  }
  /** Perpetual futures balances of the sub-accounts, by settle currency */
  'GET /api/v4/wallet/sub_account_futures_balances': {
    path: undefined
    query: {
      sub_uid?: number[]
      settle?: "btc" | "usd" | "usdt"
    }
    body: undefined
    reply: {
      uid: string
      available: Record<string, {
        total: string
        unrealised_pnl: string
        position_margin: string
        order_margin: string
        available: string
        position_initial_margin: string
        maintenance_margin: string
        cross_order_margin: string
        cross_initial_margin: string
        cross_maintenance_margin: string
        cross_unrealised_pnl: string
        cross_available: string
        cross_margin_balance: string
        cross_mmr: string
        cross_imr: string
        isolated_position_margin: string
        point: string
        bonus: string
        currency: string
        in_dual_mode: boolean
        enable_credit: boolean
        enable_evolved_classic: boolean
        enable_new_dual_mode: boolean
        enable_tiered_mm: boolean
        enable_dual_plus: boolean
        margin_mode: number
        margin_mode_name: string
        position_mode: string
        update_id: number
        update_time: number
        user: number
        history: {
          dnw: string
          pnl: string
          fee: string
          refr: string
          fund: string
          point_dnw: string
          point_fee: string
          point_refr: string
          bonus_dnw: string
          bonus_offset: string
          cross_settle: string
        }
      }>
    }[]
  }
  /** Cross margin balances of the sub-accounts; user_id 0 where there is no such account */
  'GET /api/v4/wallet/sub_account_cross_margin_balances': {
    path: undefined
    query: {
      sub_uid?: number[]
    }
    body: undefined
    reply: {
      uid: string
      available: {
        user_id: number
        locked: boolean
        balances: Record<string, {
          available: string
          freeze: string
          borrowed: string
          interest: string
        }>
        total: string
        borrowed: string
        borrowed_net: string
        net: string
        leverage: string
        interest: string
        risk: string
        total_initial_margin: string
        total_margin_balance: string
        total_maintenance_margin: string
        total_initial_margin_rate: string
        total_maintenance_margin_rate: string
        total_available_margin: string
      }
    }[]
  }
  /** Lists spot balances worth less than 1 USDT, which can be turned into GT */
  'GET /api/v4/wallet/small_balance': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency: string
      available_balance: string
      estimated_as_btc: string
      convertible_to_gt: string
    }[]
  }
  /** Turns small balances into GT at index prices, rounded down; 100 USDT worth an hour */
  'POST /api/v4/wallet/small_balance': {
    path: undefined
    query: undefined
    body: {
      currency?: string[]
      is_all?: boolean
    }
    reply: undefined
  }
  /** Lists what was turned into GT, newest first */
  'GET /api/v4/wallet/small_balance_history': {
    path: undefined
    query: {
      currency?: string
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      id: string
      currency: string
      amount: string
      gt_amount: string
      create_time: number
    }[]
  }
  /** Creates a sub-account */
  'POST /api/v4/sub_accounts': {
    path: undefined
    query: undefined
    body: {
      login_name: string
      remark?: string
      password?: string
      email?: string
    }
    reply: {
      user_id: number
      login_name: string
      remark: string
      email: string
      state: number
      type: number
      create_time: number
    }
  }
  /** Lists the sub-accounts */
  'GET /api/v4/sub_accounts': {
    path: undefined
    query: {
      type?: "0" | "1"
    }
    body: undefined
    reply: {
      user_id: number
      login_name: string
      remark: string
      email: string
      state: number
      type: number
      create_time: number
    }[]
  }
  /** Tells the account mode of each sub-account */
  'GET /api/v4/sub_accounts/unified_mode': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      is_unified: boolean
      mode: string
    }[]
  }
  /** Shows one sub-account */
  'GET /api/v4/sub_accounts/{user_id}': {
    path: {
      user_id: number
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      login_name: string
      remark: string
      email: string
      state: number
      type: number
      create_time: number
    }
  }
  /** Creates an API key of a sub-account; its secret is shown here and never again */
  'POST /api/v4/sub_accounts/{user_id}/keys': {
    path: {
      user_id: number
    }
    query: undefined
    body: {
      mode?: 1 | 2
      name?: string
      perms?: {
        name: string
        read_only?: boolean
      }[]
      ip_whitelist?: string[]
      replay_protection?: boolean
    }
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
      secret: string
    }
  }
  /** Lists a sub-account's API keys */
  'GET /api/v4/sub_accounts/{user_id}/keys': {
    path: {
      user_id: number
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
    }[]
  }
  /** Shows one of a sub-account's API keys */
  'GET /api/v4/sub_accounts/{user_id}/keys/{key}': {
    path: {
      user_id: number
      key: string
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
    }
  }
  /** Replaces the name, the permissions and the IP list of a key; what is left out is cleared */
  'PUT /api/v4/sub_accounts/{user_id}/keys/{key}': {
    path: {
      user_id: number
      key: string
    }
    query: undefined
    body: {
      mode?: 1 | 2
      name?: string
      perms?: {
        name: string
        read_only?: boolean
      }[]
      ip_whitelist?: string[]
      replay_protection?: boolean
    }
    reply: undefined
  }
  /** Deletes one of a sub-account's API keys; it stops working at once */
  'DELETE /api/v4/sub_accounts/{user_id}/keys/{key}': {
    path: {
      user_id: number
      key: string
    }
    query: undefined
    body: undefined
    reply: undefined
  }
  /** Locks a sub-account: its own keys stop working and its money stays where it is */
  'POST /api/v4/sub_accounts/{user_id}/lock': {
    path: {
      user_id: number
    }
    query: undefined
    body: undefined
    reply: undefined
  }
  /** Unlocks a sub-account */
  'POST /api/v4/sub_accounts/{user_id}/unlock': {
    path: {
      user_id: number
    }
    query: undefined
    body: undefined
    reply: undefined
  }
  /** Tells about the account and the key that asks */
  'GET /api/v4/account/detail': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      ip_whitelist: string[]
      currency_pairs: string[]
      tier: number
      key: {
        mode: number
      }
      copy_trading_role: number
    }
  }
  /** Shows the key that asks, as the main account sees it */
  'GET /api/v4/account/main_keys': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      state: number
      mode: number
      name: string[]
      currency_pairs: string[]
      ip_whitelist: string[]
      perms: {
        name: string
        read_only: boolean
      }[]
      key: {
        mode: number
      }
      created_at: string
      updated_at: string
      last_access: string
    }
  }
  /** Tells the fill-ratio tier of the account for each product */
  'GET /api/v4/account/rate_limit': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      type: string
      tier: string
      ratio: string
      main_ratio: string
      updated_at: string
    }[]
  }
  /** Lists the STP groups that this account has created */
  'GET /api/v4/account/stp_groups': {
    path: undefined
    query: {
      name?: string
    }
    body: undefined
    reply: {
      id: number
      name: string
      creator_id: number
      create_time: number
    }[]
  }
  /** Creates an STP group */
  'POST /api/v4/account/stp_groups': {
    path: undefined
    query: undefined
    body: {
      name: string
    }
    reply: {
      id: number
      name: string
      creator_id: number
      create_time: number
    }
  }
  /** Lists the members of an STP group */
  'GET /api/v4/account/stp_groups/{stp_id}/users': {
    path: {
      stp_id: number
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      stp_id: number
      create_time: number
    }[]
  }
  /** Adds accounts to an STP group; the body is a bare array of user ids */
  'POST /api/v4/account/stp_groups/{stp_id}/users': {
    path: {
      stp_id: number
    }
    query: undefined
    body: number[]
    reply: {
      user_id: number
      stp_id: number
      create_time: number
    }[]
  }
  /** Removes accounts from an STP group */
  'DELETE /api/v4/account/stp_groups/{stp_id}/users': {
    path: {
      stp_id: number
    }
    query: {
      user_id: number[]
    }
    body: undefined
    reply: {
      user_id: number
      stp_id: number
      create_time: number
    }[]
  }
  /** Lists the markets */
  'GET /api/v4/spot/currency_pairs': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      id: string
      base: string
      base_name: string
      quote: string
      quote_name: string
      trade_quotes: string[]
      fee: string
      min_base_amount: string | null
      min_quote_amount: string | null
      max_base_amount: string | null
      max_quote_amount: string | null
      amount_precision: number
      precision: number
      trade_status: string
      sell_start: number
      buy_start: number
      delisting_time: number
      type: string
      trade_url: string
      st_tag: boolean
      up_rate: string
      down_rate: string
      slippage: string
      market_order_max_stock: string | null
      market_order_max_money: string | null
    }[]
  }
  /** Shows one market */
  'GET /api/v4/spot/currency_pairs/{currency_pair}': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: undefined
    reply: {
      id: string
      base: string
      base_name: string
      quote: string
      quote_name: string
      trade_quotes: string[]
      fee: string
      min_base_amount: string | null
      min_quote_amount: string | null
      max_base_amount: string | null
      max_quote_amount: string | null
      amount_precision: number
      precision: number
      trade_status: string
      sell_start: number
      buy_start: number
      delisting_time: number
      type: string
      trade_url: string
      st_tag: boolean
      up_rate: string
      down_rate: string
      slippage: string
      market_order_max_stock: string | null
      market_order_max_money: string | null
    }
  }
  /** Last price, best prices and 24 hour figures of one market or all */
  'GET /api/v4/spot/tickers': {
    path: undefined
    query: {
      currency_pair?: string
      timezone?: "utc0" | "utc8" | "all"
    }
    body: undefined
    reply: {
      currency_pair: string
      last: string
      lowest_ask: string
      highest_bid: string
      lowest_size?: string
      highest_size?: string
      change_percentage: string
      change_utc0?: string
      change_utc8?: string
      base_volume: string
      quote_volume: string
      high_24h: string
      low_24h: string
    }[]
  }
  /** A market's open prices, best first; id counts the book's changes */
  'GET /api/v4/spot/order_book': {
    path: undefined
    query: {
      currency_pair: string
      interval?: string
      limit?: number
      with_id?: boolean
    }
    body: undefined
    reply: {
      id?: number
      current: number
      update: number
      asks: string[][]
      bids: string[][]
    }
  }
  /** A market's trades, newest first */
  'GET /api/v4/spot/trades': {
    path: undefined
    query: {
      currency_pair: string
      limit?: number
      last_id?: number
      reverse?: boolean
      from?: number
      to?: number
      page?: number
    }
    body: undefined
    reply: {
      id: string
      create_time: string
      create_time_ms: string
      currency_pair: string
      side: string
      amount: string
      price: string
      sequence_id: string
    }[]
  }
  /** Candles: time, quote volume, close, high, low, open, base volume, closed */
  'GET /api/v4/spot/candlesticks': {
    path: undefined
    query: {
      currency_pair: string
      interval?: "1s" | "10s" | "1m" | "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "8h" | "1d" | "7d" | "30d" | "1w"
      limit?: number
      from?: number
      to?: number
    }
    body: undefined
    reply: string[][]
  }
  /** Balances of the insurance fund over time, newest first */
  'GET /api/v4/spot/insurance_history': {
    path: undefined
    query: {
      business: "margin" | "unified"
      currency: string
      from: number
      to: number
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      currency: string
      balance: string
      time: number
    }[]
  }
  /** Places an order */
  'POST /api/v4/spot/orders': {
    path: undefined
    query: undefined
    body: {
      text?: string
      currency_pair: string
      type?: "limit" | "market"
      account?: "spot" | "margin" | "unified" | "cross_margin"
      side: "buy" | "sell"
      amount: string
      price?: string
      time_in_force?: "gtc" | "ioc" | "poc" | "fok"
      iceberg?: string
      auto_borrow?: boolean
      auto_repay?: boolean
      stp_act?: "cn" | "co" | "cb"
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price?: string
      }
      stop_loss?: {
        trigger_price: string
        order_price?: string
      }
      trade_quote?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
    } | {
      id: string
      text: string
      amend_text: string
    }
  }
  /** Lists open orders of a market, or finished ones by the time they finished */
  'GET /api/v4/spot/orders': {
    path: undefined
    query: {
      status: "open" | "finished"
      currency_pair?: string
      page?: number
      limit?: number
      account?: "spot" | "margin" | "unified" | "cross_margin"
      from?: number
      to?: number
      side?: "buy" | "sell"
    }
    body: undefined
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    }[]
  }
  /** Cancels all open orders, of one market, side or account where they are named */
  'DELETE /api/v4/spot/orders': {
    path: undefined
    query: {
      currency_pair?: string
      side?: "buy" | "sell"
      account?: "spot" | "margin" | "unified" | "cross_margin"
      trade_quote?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    body: undefined
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      amend_text: string
      succeeded: boolean
      label: string
      message: string
    }[]
  }
  /** Lists the open orders of all markets; pages count within each market */
  'GET /api/v4/spot/open_orders': {
    path: undefined
    query: {
      page?: number
      limit?: number
      account?: "spot" | "margin" | "unified" | "cross_margin"
    }
    body: undefined
    reply: {
      currency_pair: string
      total: number
      orders: {
        id: string
        text: string
        amend_text: string
        create_time: string
        update_time: string
        create_time_ms: number
        update_time_ms: number
        status: string
        currency_pair: string
        trade_quote: string
        type: string
        account: string
        side: string
        amount: string
        price: string
        time_in_force: string
        iceberg: string
        left: string
        filled_amount: string
        fill_price: string
        filled_total: string
        avg_deal_price: string
        stp_id: number
        stp_act: string
        finish_as: string
        auto_borrow: boolean
        auto_repay: boolean
        biz_info: string
        slippage?: string
        stop_profit?: {
          trigger_price: string
          order_price: string
        }
        stop_loss?: {
          trigger_price: string
          order_price: string
        }
        fee: string
        fee_currency: string
        point_fee: string
        gt_fee: string
        gt_maker_fee: string
        gt_taker_fee: string
        gt_discount: boolean
        rebated_fee: string
        rebated_fee_currency: string
      }[]
    }[]
  }
  /** Shows one order, by its id or by the text that the client gave it */
  'GET /api/v4/spot/orders/{order_id}': {
    path: {
      order_id: string
    }
    query: {
      currency_pair: string
      account?: "spot" | "margin" | "unified" | "cross_margin"
    }
    body: undefined
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    }
  }
  /** Cancels one order, by its id or text */
  'DELETE /api/v4/spot/orders/{order_id}': {
    path: {
      order_id: string
    }
    query: {
      currency_pair: string
      account?: "spot" | "margin" | "unified" | "cross_margin"
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    body: undefined
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
    } | {
      id: string
      text: string
      amend_text: string
    }
  }
  /** Amends an open order; parameters may be in the body or the query, the body wins */
  'PATCH /api/v4/spot/orders/{order_id}': {
    path: {
      order_id: string
    }
    query: {
      currency_pair?: string
      account?: "spot" | "margin" | "unified" | "cross_margin"
      amount?: string
      price?: string
      amend_text?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
      stop_profit?: {
        trigger_price: string
        order_price?: string
      }
      stop_loss?: {
        trigger_price: string
        order_price?: string
      }
    }
    body: {
      currency_pair?: string
      account?: "spot" | "margin" | "unified" | "cross_margin"
      amount?: string
      price?: string
      amend_text?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
      stop_profit?: {
        trigger_price: string
        order_price?: string
      }
      stop_loss?: {
        trigger_price: string
        order_price?: string
      }
    }
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
    } | {
      id: string
      text: string
      amend_text: string
    }
  }
  /** Buys a currency whose market is closed for buying, to repay a debt of the unified account in it */
  'POST /api/v4/spot/cross_liquidate_orders': {
    path: undefined
    query: undefined
    body: {
      text?: string
      currency_pair: string
      amount: string
      price: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
    } | {
      id: string
      text: string
      amend_text: string
    }
  }
  /** Cancels all orders unless called again in time; 0 stops the countdown */
  'POST /api/v4/spot/countdown_cancel_all': {
    path: undefined
    query: undefined
    body: {
      timeout: number
      currency_pair?: string
    }
    reply: {
      triggerTime: number
    }
  }
  /** Places several orders; each item succeeds or fails by itself */
  'POST /api/v4/spot/batch_orders': {
    path: undefined
    query: undefined
    body: Record<string, unknown>[]
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
      order_id: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      order_id: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      amend_text: string
      order_id: string
      succeeded: boolean
      label: string
      message: string
    } | {
      text: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      succeeded: boolean
      label: string
      message: string
    }[]
  }
  /** Cancels several orders by id or text */
  'POST /api/v4/spot/cancel_batch_orders': {
    path: undefined
    query: undefined
    body: Record<string, unknown>[]
    reply: {
      currency_pair: string
      id: string
      text: string
      account: string
      succeeded: boolean
      label: string | null
      message: string | null
    }[]
  }
  /** Amends several orders, in the order of the list */
  'POST /api/v4/spot/amend_batch_orders': {
    path: undefined
    query: undefined
    body: Record<string, unknown>[]
    reply: {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
      order_id: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      order_id: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      amend_text: string
      order_id: string
      succeeded: boolean
      label: string
      message: string
    } | {
      text: string
      succeeded: boolean
      label: string
      message: string
    } | {
      id: string
      text: string
      succeeded: boolean
      label: string
      message: string
    }[]
  }
  /** Creates an order that is placed when the last price reaches its trigger */
  'POST /api/v4/spot/price_orders': {
    path: undefined
    query: undefined
    body: {
      market: string
      trigger: {
        price: string
        rule: ">=" | "<="
        expiration?: number
        text?: string
      }
      put: {
        type?: "limit" | "market"
        side: "buy" | "sell"
        price?: string
        amount: string
        account?: "normal" | "margin" | "unified"
        time_in_force?: "gtc" | "ioc"
        auto_borrow?: boolean
        auto_repay?: boolean
        text?: string
      }
    }
    reply: {
      id: number
      id_string: string
    }
  }
  /** Lists price orders, newest first */
  'GET /api/v4/spot/price_orders': {
    path: undefined
    query: {
      status: "open" | "finished"
      market?: string
      account?: "normal" | "margin" | "unified"
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      user: number
      market: string
      ctime: number
      ftime: number
      fired_order_id: number
      status: string
      reason: string
      trigger: {
        price: string
        rule: string
        expiration: number
        text?: string
      }
      put: {
        type: string
        side: string
        price: string
        amount: string
        account: string
        time_in_force: string
        auto_borrow: boolean
        auto_repay: boolean
        text: string
      }
    }[]
  }
  /** Cancels all waiting price orders, of one market or account where they are named */
  'DELETE /api/v4/spot/price_orders': {
    path: undefined
    query: {
      market?: string
      account?: "normal" | "margin" | "unified"
    }
    body: undefined
    reply: {
      id: number
      user: number
      market: string
      ctime: number
      ftime: number
      fired_order_id: number
      status: string
      reason: string
      trigger: {
        price: string
        rule: string
        expiration: number
        text?: string
      }
      put: {
        type: string
        side: string
        price: string
        amount: string
        account: string
        time_in_force: string
        auto_borrow: boolean
        auto_repay: boolean
        text: string
      }
    }[]
  }
  /** Shows one price order */
  'GET /api/v4/spot/price_orders/{order_id}': {
    path: {
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      user: number
      market: string
      ctime: number
      ftime: number
      fired_order_id: number
      status: string
      reason: string
      trigger: {
        price: string
        rule: string
        expiration: number
        text?: string
      }
      put: {
        type: string
        side: string
        price: string
        amount: string
        account: string
        time_in_force: string
        auto_borrow: boolean
        auto_repay: boolean
        text: string
      }
    }
  }
  /** Cancels a waiting price order */
  'DELETE /api/v4/spot/price_orders/{order_id}': {
    path: {
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      user: number
      market: string
      ctime: number
      ftime: number
      fired_order_id: number
      status: string
      reason: string
      trigger: {
        price: string
        rule: string
        expiration: number
        text?: string
      }
      put: {
        type: string
        side: string
        price: string
        amount: string
        account: string
        time_in_force: string
        auto_borrow: boolean
        auto_repay: boolean
        text: string
      }
    }
  }
  /** Creates an order that takes a share of the volume of others until it is filled or its time is over */
  'POST /api/v4/spot/pov_orders': {
    path: undefined
    query: undefined
    body: {
      currency_pair: string
      side: "buy" | "sell"
      amount: string
      participation_rate: number
      ttl: string
      limit_price?: string
      trigger_price?: string
      text?: string
    }
    reply: {
      id: string
      currency_pair: string
      side: string
      amount: string
      filled_amount: string
      participation_rate: number
      ttl: string
      limit_price: string
      trigger_price: string
      status: string
      terminated_as: string
      reason: string
      start_time_ms: number
      end_time_ms: number
      expire_time_ms: number
      create_time_ms: number
      update_time_ms: number
      text: string
    }
  }
  /** Lists POV orders, newest first */
  'GET /api/v4/spot/pov_orders': {
    path: undefined
    query: {
      status: "open" | "finished"
      currency_pair?: string
      side?: "buy" | "sell"
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      id: string
      currency_pair: string
      side: string
      amount: string
      filled_amount: string
      participation_rate: number
      ttl: string
      limit_price: string
      trigger_price: string
      status: string
      terminated_as: string
      reason: string
      start_time_ms: number
      end_time_ms: number
      expire_time_ms: number
      create_time_ms: number
      update_time_ms: number
      text: string
    }[]
  }
  /** Cancels all open POV orders, of one market or side where they are named */
  'DELETE /api/v4/spot/pov_orders': {
    path: undefined
    query: {
      currency_pair?: string
      side?: "buy" | "sell"
    }
    body: undefined
    reply: {
      id: string
      currency_pair: string
      side: string
      amount: string
      filled_amount: string
      participation_rate: number
      ttl: string
      limit_price: string
      trigger_price: string
      status: string
      terminated_as: string
      reason: string
      start_time_ms: number
      end_time_ms: number
      expire_time_ms: number
      create_time_ms: number
      update_time_ms: number
      text: string
    }[]
  }
  /** Shows one POV order */
  'GET /api/v4/spot/pov_orders/{order_id}': {
    path: {
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: string
      currency_pair: string
      side: string
      amount: string
      filled_amount: string
      participation_rate: number
      ttl: string
      limit_price: string
      trigger_price: string
      status: string
      terminated_as: string
      reason: string
      start_time_ms: number
      end_time_ms: number
      expire_time_ms: number
      create_time_ms: number
      update_time_ms: number
      text: string
    }
  }
  /** Cancels an open POV order */
  'DELETE /api/v4/spot/pov_orders/{order_id}': {
    path: {
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: string
      currency_pair: string
      side: string
      amount: string
      filled_amount: string
      participation_rate: number
      ttl: string
      limit_price: string
      trigger_price: string
      status: string
      terminated_as: string
      reason: string
      start_time_ms: number
      end_time_ms: number
      expire_time_ms: number
      create_time_ms: number
      update_time_ms: number
      text: string
    }
  }
  /** Lists the spot balances */
  'GET /api/v4/spot/accounts': {
    path: undefined
    query: {
      currency?: string
    }
    body: undefined
    reply: {
      currency: string
      available: string
      locked: string
      update_id: number
    }[]
  }
  /** Every change of the spot balances, newest first; code wins over type */
  'GET /api/v4/spot/account_book': {
    path: undefined
    query: {
      currency?: string
      from?: number
      to?: number
      page?: number
      limit?: number
      type?: string
      code?: string
    }
    body: undefined
    reply: {
      id: string
      time: number
      currency: string
      change: string
      balance: string
      type: string
      code: string
      text: string
    }[]
  }
  /** Lists the account's own trades, newest first */
  'GET /api/v4/spot/my_trades': {
    path: undefined
    query: {
      currency_pair?: string
      page?: number
      limit?: number
      order_id?: number
      account?: "spot" | "margin" | "unified" | "cross_margin"
      from?: number
      to?: number
    }
    body: undefined
    reply: {
      id: string
      create_time: string
      create_time_ms: string
      currency_pair: string
      side: string
      role: string
      amount: string
      price: string
      deal: string
      order_id: string
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      amend_text: string
      sequence_id: string
      text: string
      trade_quote: string
    }[]
  }
  /** The account's trading fees */
  'GET /api/v4/wallet/fee': {
    path: undefined
    query: {
      currency_pair?: string
      settle?: "BTC" | "USDT" | "USD"
    }
    body: undefined
    reply: {
      user_id: number
      taker_fee: string
      maker_fee: string
      rpi_maker_fee: string
      gt_discount: boolean
      gt_taker_fee: string
      gt_maker_fee: string
      loan_fee: string
      point_type: string
      debit_fee: number
      rpi_mm: number
      futures_taker_fee: string
      futures_maker_fee: string
      futures_rpi_maker_fee: string
      delivery_taker_fee: string
      delivery_maker_fee: string
    }
  }
  /** The account's spot fees */
  'GET /api/v4/spot/fee': {
    path: undefined
    query: {
      currency_pair?: string
    }
    body: undefined
    reply: {
      user_id: number
      taker_fee: string
      maker_fee: string
      rpi_maker_fee: string
      gt_discount: boolean
      gt_taker_fee: string
      gt_maker_fee: string
      loan_fee: string
      point_type: string
      debit_fee: number
      rpi_mm: number
      currency_pair: string
    }
  }
  /** The account's spot fees of several markets */
  'GET /api/v4/spot/batch_fee': {
    path: undefined
    query: {
      currency_pairs: string[]
    }
    body: undefined
    reply: Record<string, {
      user_id: number
      taker_fee: string
      maker_fee: string
      rpi_maker_fee: string
      gt_discount: boolean
      gt_taker_fee: string
      gt_maker_fee: string
      loan_fee: string
      point_type: string
      debit_fee: number
      rpi_mm: number
      currency_pair: string
    }>
  }
  /** Tells whether fees are paid in the platform token */
  'GET /api/v4/account/debit_fee': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      enabled: boolean
    }
  }
  /** Switches paying fees in the platform token on or off, for the main account and its sub-accounts */
  'POST /api/v4/account/debit_fee': {
    path: undefined
    query: undefined
    body: {
      enabled: boolean
    }
    reply: undefined
  }
  /** Shows the unified account: balances, debts and every figure of its margin */
  'GET /api/v4/unified/accounts': {
    path: undefined
    query: {
      currency?: string
      sub_uid?: number
    }
    body: undefined
    reply: {
      mode: string
      user_id: number
      refresh_time: number
      locked: boolean
      risk_level: string
      balances: Record<string, {
        available: string
        freeze: string
        borrowed: string
        negative_liab: string
        futures_pos_liab: string
        equity: string
        total_freeze: string
        total_liab: string
        spot_in_use: string
        funding: string
        funding_version: string
        cross_balance: string
        iso_balance: string
        im: string
        mm: string
        imr: string
        mmr: string
        margin_balance: string
        available_margin: string
        enabled_collateral: boolean
        balance_version: number
      }>
      total: string
      borrowed: string
      total_initial_margin: string
      total_margin_balance: string
      total_maintenance_margin: string
      total_initial_margin_rate: string
      total_maintenance_margin_rate: string
      total_available_margin: string
      unified_account_total: string
      unified_account_total_liab: string
      unified_account_total_equity: string
      leverage: string
      spot_order_loss: string
      options_order_loss: string
      spot_hedge: boolean
      use_funding: boolean
      is_all_collateral: boolean
    }
  }
  /** Tells the most of a currency that can be borrowed */
  'GET /api/v4/unified/borrowable': {
    path: undefined
    query: {
      currency: string
    }
    body: undefined
    reply: {
      currency: string
      amount: string
    }
  }
  /** Tells the same for up to 10 currencies */
  'GET /api/v4/unified/batch_borrowable': {
    path: undefined
    query: {
      currencies: string[]
    }
    body: undefined
    reply: {
      currency: string
      amount: string
    }[]
  }
  /** Tells the most of a currency that can leave the account */
  'GET /api/v4/unified/transferable': {
    path: undefined
    query: {
      currency: string
    }
    body: undefined
    reply: {
      currency: string
      amount: string
    }
  }
  /** Tells the same for up to 100 currencies */
  'GET /api/v4/unified/transferables': {
    path: undefined
    query: {
      currencies: string[]
    }
    body: undefined
    reply: {
      currency: string
      amount: string
    }[]
  }
  /** Chooses which currencies are collateral: 0 all, 1 all but those disabled; acts at once */
  'POST /api/v4/unified/collateral_currencies': {
    path: undefined
    query: undefined
    body: {
      collateral_type?: 0 | 1
      enable_list?: string[]
      disable_list?: string[]
    }
    reply: {
      is_success: boolean
    }
  }
  /** Shows the account's mode and its settings */
  'GET /api/v4/unified/unified_mode': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      mode: string
      settings: {
        usdt_futures?: boolean
        spot_hedge?: boolean
        use_funding?: boolean
        options?: boolean
      }
    }
  }
  /** Switches the account's mode, or settings within it */
  'PUT /api/v4/unified/unified_mode': {
    path: undefined
    query: undefined
    body: {
      mode: "classic" | "single_currency" | "multi_currency" | "portfolio"
      settings?: {
        usdt_futures?: boolean
        spot_hedge?: boolean
        use_funding?: boolean
        options?: boolean
      }
    }
    reply: undefined
  }
  /** Shows the mode as older clients know it */
  'GET /api/v4/unified/account_mode': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      mode: string
      settings: {
        usdt_futures?: boolean
        spot_hedge?: boolean
        use_funding?: boolean
        options?: boolean
      }
    }
  }
  /** Switches the mode as older clients do */
  'POST /api/v4/unified/account_mode': {
    path: undefined
    query: undefined
    body: {
      mode: "classic" | "single_currency" | "multi_currency" | "portfolio"
      settings?: {
        usdt_futures?: boolean
        spot_hedge?: boolean
        use_funding?: boolean
        options?: boolean
      }
    }
    reply: {
      mode: string
      settings: {
        usdt_futures?: boolean
        spot_hedge?: boolean
        use_funding?: boolean
        options?: boolean
      }
    }
  }
  /** Tells whether delta-neutral trading is on */
  'GET /api/v4/unified/delta_neutral': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      enabled: boolean
    }
  }
  /** Switches delta-neutral trading; needs VIP 4 and multi_currency mode */
  'POST /api/v4/unified/delta_neutral': {
    path: undefined
    query: undefined
    body: {
      enabled: boolean
    }
    reply: {
      enabled: boolean
    }
  }
  /** Shows the leverage of a currency, its bounds, and what can be borrowed with it */
  'GET /api/v4/unified/leverage/user_currency_config': {
    path: undefined
    query: {
      currency: string
    }
    body: undefined
    reply: {
      current_leverage: string
      min_leverage: string
      max_leverage: string
      debit: string
      available_margin: string
      borrowable: string
      except_leverage_borrowable: string
    }
  }
  /** Shows the account's leverage of a currency, or of all */
  'GET /api/v4/unified/leverage/user_currency_setting': {
    path: undefined
    query: {
      currency?: string
    }
    body: undefined
    reply: {
      currency: string
      leverage: string
    }[]
  }
  /** Sets the account's leverage of a currency */
  'POST /api/v4/unified/leverage/user_currency_setting': {
    path: undefined
    query: undefined
    body: {
      currency: string
      leverage: string
    }
    reply: undefined
  }
  /** Sets the account's leverage of every currency; tells those that it does not fit */
  'POST /api/v4/unified/leverage/user_setting': {
    path: undefined
    query: undefined
    body: {
      leverage: string
    }
    reply: {
      currency: string
      reason: string
    }[]
  }
  /** Shows what is owed and what it could be repaid with */
  'GET /api/v4/unified/estimated_quick_repayment': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      debt_currencies: {
        currency: string
        debt_amount: string
        estimated_usd: string
        borrowed: string
        neg_balance: string
      }[]
      available_currencies: {
        currency: string
        available: string
        estimated_usd: string
      }[]
    }
  }
  /** Repays named debts with named currencies at index prices and a spread, up to a quota by the hour */
  'POST /api/v4/unified/quick_repayment': {
    path: undefined
    query: undefined
    body: {
      debt_currencies: string[]
      available_currencies: string[]
    }
    reply: {
      order_id: string
      repaid_infos: {
        currency: string
        repaid: string
        left: string
      }[]
      used_infos: {
        currency: string
        used: string
      }[]
    }
  }
  /** Borrows, or repays; repaid_all repays everything that is owed of the currency */
  'POST /api/v4/unified/loans': {
    path: undefined
    query: undefined
    body: {
      currency: string
      type: "borrow" | "repay"
      amount?: string
      repaid_all?: boolean
      text?: string
    }
    reply: {
      tran_id: number
    }
  }
  /** Lists what is owed, interest included */
  'GET /api/v4/unified/loans': {
    path: undefined
    query: {
      currency?: string
      page?: number
      limit?: number
      type?: "platform" | "margin"
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      amount: string
      type: string
      create_time: number
      update_time: number
      change_time: number
    }[]
  }
  /** Lists borrowings and repayments, newest first */
  'GET /api/v4/unified/loan_records': {
    path: undefined
    query: {
      type?: "borrow" | "repay"
      currency?: string
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      id: number
      type: string
      repayment_type: string
      borrow_type?: string
      currency_pair: string
      currency: string
      amount: string
      margin_mode: string
      create_time: number
    }[]
  }
  /** Lists the interest of each full hour, newest first */
  'GET /api/v4/unified/interest_records': {
    path: undefined
    query: {
      currency?: string
      page?: number
      limit?: number
      from?: number
      to?: number
      type?: "platform" | "margin"
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      actual_rate: string
      interest: string
      status: number
      type: string
      create_time: number
    }[]
  }
  /** Lists the currencies that are lent, with their limits */
  'GET /api/v4/unified/currencies': {
    path: undefined
    query: {
      currency?: string
    }
    body: undefined
    reply: {
      name: string
      prec: string
      min_borrow_amount: string
      user_max_borrow_amount: string
      total_max_borrow_amount: string
      loan_status: string
    }[]
  }
  /** Lists how far each currency counts as collateral, slice by slice */
  'GET /api/v4/unified/currency_discount_tiers': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency: string
      discount_tiers: {
        tier: string
        discount: string
        lower_limit: string
        upper_limit: string
        leverage: string
      }[]
    }[]
  }
  /** Lists the margin that debts of each currency need, slice by slice */
  'GET /api/v4/unified/loan_margin_tiers': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency: string
      margin_tiers: {
        tier: string
        margin_rate: string
        lower_limit: string
        upper_limit: string
        leverage: string
      }[]
    }[]
  }
  /** Lists the hourly rates of a currency, newest first, as a VIP tier pays them */
  'GET /api/v4/unified/history_loan_rate': {
    path: undefined
    query: {
      currency: string
      tier?: number
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      currency: string
      tier: string
      tier_up_rate: string
      rates: {
        time: number
        rate: string
      }[]
    }
  }
  /** Tells the present hourly rates of up to 10 currencies; empty where nothing is lent */
  'GET /api/v4/unified/estimate_rate': {
    path: undefined
    query: {
      currencies: string[]
    }
    body: undefined
    reply: Record<string, string>
  }
  /** Estimates the portfolio margin of made-up positions over 33 scenarios */
  'POST /api/v4/unified/portfolio_calculator': {
    path: undefined
    query: undefined
    body: {
      spot_balances?: {
        currency: string
        equity: string
      }[]
      spot_orders?: {
        currency_pairs: string
        order_price: string
        count?: string
        left: string
        type: "buy" | "sell"
      }[]
      futures_positions?: {
        contract: string
        size: string
      }[]
      futures_orders?: {
        contract: string
        size: string
        left: string
      }[]
      options_positions?: {
        options_name: string
        size: string
      }[]
      options_orders?: {
        options_name: string
        size: string
        left: string
      }[]
      spot_hedge?: boolean
    }
    reply: {
      maintain_margin_total: string
      initial_margin_total: string
      calculate_time: number
      risk_unit: {
        symbol: string
        spot_in_use: string
        maintain_margin: string
        initial_margin: string
        margin_result: {
          type: string
          profit_loss_ranges: {
            price_percentage: string
            implied_volatility_percentage: string
            profit_loss: string
          }[]
          max_loss: {
            price_percentage: string
            implied_volatility_percentage: string
            profit_loss: string
          }
          mr1: string
          mr2: string
          mr3: string
          mr4: string
        }[]
        delta: string
        gamma: string
        theta: string
        vega: string
      }[]
    }
  }
  /** Shows the account's risk unit of each underlying; meaningful in portfolio mode */
  'GET /api/v4/unified/risk_units': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      spot_hedge: boolean
      risk_units: {
        symbol: string
        spot_in_use: string
        maintain_margin: string
        initial_margin: string
        delta: string
        gamma: string
        theta: string
        vega: string
      }[]
    }
  }
  /** Lists the isolated margin accounts; a named pair is shown even when nothing was ever in it */
  'GET /api/v4/margin/accounts': {
    path: undefined
    query: {
      currency_pair?: string
    }
    body: undefined
    reply: {
      currency_pair: string
      account_type: string
      leverage: string
      locked: boolean
      risk: string
      mmr: string
      base: {
        currency: string
        available: string
        locked: string
        borrowed: string
        interest: string
      }
      quote: {
        currency: string
        available: string
        locked: string
        borrowed: string
        interest: string
      }
    }[]
  }
  /** Lists the isolated margin accounts; a named pair is shown even when nothing was ever in it */
  'GET /api/v4/margin/user/account': {
    path: undefined
    query: {
      currency_pair?: string
    }
    body: undefined
    reply: {
      currency_pair: string
      account_type: string
      leverage: string
      locked: boolean
      risk: string
      mmr: string
      base: {
        currency: string
        available: string
        locked: string
        borrowed: string
        interest: string
      }
      quote: {
        currency: string
        available: string
        locked: string
        borrowed: string
        interest: string
      }
    }[]
  }
  /** Every change of the isolated margin balances, newest first */
  'GET /api/v4/margin/account_book': {
    path: undefined
    query: {
      currency?: string
      currency_pair?: string
      type?: string
      from?: number
      to?: number
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      id: string
      time: string
      time_ms: number
      currency: string
      currency_pair: string
      change: string
      balance: string
      type: string
    }[]
  }
  /** Lists what the account could lend, and lends */
  'GET /api/v4/margin/funding_accounts': {
    path: undefined
    query: {
      currency?: string
    }
    body: undefined
    reply: {
      currency: string
      available: string
      locked: string
      lent: string
      total_lent: string
    }[]
  }
  /** Tells whether orders of isolated margin repay by themselves */
  'GET /api/v4/margin/auto_repay': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      status: string
    }
  }
  /** Switches that on or off; status is taken from the query or the body */
  'POST /api/v4/margin/auto_repay': {
    path: undefined
    query: {
      status?: "on" | "off"
    }
    body: {
      status?: "on" | "off"
    }
    reply: {
      status: string
    }
  }
  /** Tells the most that can leave an isolated margin account */
  'GET /api/v4/margin/transferable': {
    path: undefined
    query: {
      currency: string
      currency_pair?: string
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      amount: string
    }
  }
  /** Lists a pair's tiers: up to which debt, in the quote currency, which leverage and margin */
  'GET /api/v4/margin/loan_margin_tiers': {
    path: undefined
    query: {
      currency_pair: string
    }
    body: undefined
    reply: {
      upper_limit: string
      tier_amount: string
      mmr: string
      leverage: string
    }[]
  }
  /** Lists the same tiers for the account that asks */
  'GET /api/v4/margin/user/loan_margin_tiers': {
    path: undefined
    query: {
      currency_pair: string
    }
    body: undefined
    reply: {
      upper_limit: string
      tier_amount: string
      mmr: string
      leverage: string
    }[]
  }
  /** Sets the leverage of an isolated margin account */
  'POST /api/v4/margin/leverage/user_market_setting': {
    path: undefined
    query: undefined
    body: {
      currency_pair: string
      leverage: string
    }
    reply: undefined
  }
  /** Lists the pairs with isolated margin */
  'GET /api/v4/margin/uni/currency_pairs': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency_pair: string
      base_min_borrow_amount: string
      quote_min_borrow_amount: string
      leverage: string
      status: string
      delisted_time: number
    }[]
  }
  /** Shows one of them */
  'GET /api/v4/margin/uni/currency_pairs/{currency_pair}': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: undefined
    reply: {
      currency_pair: string
      base_min_borrow_amount: string
      quote_min_borrow_amount: string
      leverage: string
      status: string
      delisted_time: number
    }
  }
  /** Lists the same as older clients read it */
  'GET /api/v4/margin/currency_pairs': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      id: string
      base: string
      quote: string
      leverage: number
      min_base_amount: string
      min_quote_amount: string
      max_quote_amount: string
      status: number
    }[]
  }
  /** Shows one of them as older clients read it */
  'GET /api/v4/margin/currency_pairs/{currency_pair}': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: undefined
    reply: {
      id: string
      base: string
      quote: string
      leverage: number
      min_base_amount: string
      min_quote_amount: string
      max_quote_amount: string
      status: number
    }
  }
  /** Tells the present hourly rates of up to 10 currencies; empty where nothing is lent */
  'GET /api/v4/margin/uni/estimate_rate': {
    path: undefined
    query: {
      currencies: string[]
    }
    body: undefined
    reply: Record<string, string>
  }
  /** Borrows into, or repays from, an isolated margin account */
  'POST /api/v4/margin/uni/loans': {
    path: undefined
    query: undefined
    body: {
      currency: string
      type: "borrow" | "repay"
      amount?: string
      repaid_all?: boolean
      currency_pair: string
    }
    reply: undefined
  }
  /** Lists what isolated margin accounts owe, interest included */
  'GET /api/v4/margin/uni/loans': {
    path: undefined
    query: {
      currency_pair?: string
      currency?: string
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      amount: string
      type: string
      create_time: number
      update_time: number
      change_time: number
    }[]
  }
  /** Lists borrowings and repayments of isolated margin, newest first */
  'GET /api/v4/margin/uni/loan_records': {
    path: undefined
    query: {
      type?: "borrow" | "repay"
      currency_pair?: string
      currency?: string
      page?: number
      limit?: number
    }
    body: undefined
    reply: {
      id: number
      type: string
      repayment_type: string
      borrow_type?: string
      currency_pair: string
      currency: string
      amount: string
      margin_mode: string
      create_time: number
    }[]
  }
  /** Lists the interest of isolated margin of each full hour, newest first */
  'GET /api/v4/margin/uni/interest_records': {
    path: undefined
    query: {
      currency_pair?: string
      currency?: string
      page?: number
      limit?: number
      from?: number
      to?: number
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      actual_rate: string
      interest: string
      status: number
      type: string
      create_time: number
    }[]
  }
  /** Tells the most that can be borrowed into an isolated margin account */
  'GET /api/v4/margin/uni/borrowable': {
    path: undefined
    query: {
      currency: string
      currency_pair: string
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      borrowable: string
    }
  }
  /** Shows the unified account as older clients read it; deprecated */
  'GET /api/v4/margin/cross/accounts': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      locked: boolean
      balances: Record<string, {
        available: string
        freeze: string
        borrowed: string
        interest: string
      }>
      total: string
      borrowed: string
      borrowed_net: string
      net: string
      leverage: string
      interest: string
      risk: string
      total_initial_margin: string
      total_margin_balance: string
      total_maintenance_margin: string
      total_initial_margin_rate: string
      total_maintenance_margin_rate: string
      total_available_margin: string
    }
  }
  /** Retired: POST /unified/loans borrows and repays */
  'POST /api/v4/margin/cross/loans': {
    path: undefined
    query: undefined
    body: {
      currency: string
      amount: string
    }
    reply: {
      id: string
      create_time: number
      update_time: number
      currency: string
      amount: string
      text: string
      status: number
      repaid: string
      repaid_interest: string
      unpaid_interest: string
    }
  }
  /** Lists loans of the unified account as older clients read them; deprecated */
  'GET /api/v4/margin/cross/loans': {
    path: undefined
    query: {
      status: 1 | 2 | 3
      currency?: string
      limit?: number
      offset?: number
      reverse?: boolean
    }
    body: undefined
    reply: {
      id: string
      create_time: number
      update_time: number
      currency: string
      amount: string
      text: string
      status: number
      repaid: string
      repaid_interest: string
      unpaid_interest: string
    }[]
  }
  /** Retired: POST /unified/loans borrows and repays */
  'POST /api/v4/margin/cross/repayments': {
    path: undefined
    query: undefined
    body: {
      currency: string
      amount: string
    }
    reply: {
      id: string
      create_time: number
      update_time: number
      currency: string
      amount: string
      text: string
      status: number
      repaid: string
      repaid_interest: string
      unpaid_interest: string
    }
  }
  /** Lists repayments of the unified account as older clients read them; deprecated */
  'GET /api/v4/margin/cross/repayments': {
    path: undefined
    query: {
      currency?: string
      loan_id?: string
      limit?: number
      offset?: number
      reverse?: boolean
    }
    body: undefined
    reply: {
      id: string
      create_time: number
      loan_id: string
      currency: string
      principal: string
      interest: string
      repayment_type: string
    }[]
  }
  /** Lists interest of the unified account as older clients read it; deprecated */
  'GET /api/v4/margin/cross/interest_records': {
    path: undefined
    query: {
      currency?: string
      page?: number
      limit?: number
      from?: number
      to?: number
    }
    body: undefined
    reply: {
      currency: string
      currency_pair: string
      actual_rate: string
      interest: string
      status: number
      type: string
      create_time: number
    }[]
  }
  /** Lists the perpetual contracts of a settle currency, by name */
  'GET /api/v4/futures/{settle}/contracts': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      name: string
      type: string
      quanto_multiplier: string
      leverage_min: string
      leverage_max: string
      maintenance_rate: string
      mark_type: string
      mark_price: string
      index_price: string
      last_price: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_round: string
      mark_price_round: string
      risk_limit_base: string
      risk_limit_step: string
      risk_limit_max: string
      order_price_deviate: string
      ref_discount_rate: string
      ref_rebate_rate: string
      orderbook_id: number
      trade_id: number
      config_change_time: number
      in_delisting: boolean
      orders_limit: number
      create_time: number
      status: string
      order_size_min: number | string
      order_size_max: number | string
      trade_size: number | string
      position_size: number | string
      funding_rate: string
      funding_rate_indicative: string
      funding_interval: number
      funding_next_apply: number
      funding_offset: number
      funding_cap_ratio: string
      funding_rate_limit: string
      funding_impact_value: string
      interest_rate: string
      enable_decimal: boolean
      enable_bonus: boolean
      enable_credit: boolean
      enable_circuit_breaker: boolean
      launch_time: number
      delisting_time: number
      delisted_time: number
      market_order_slip_ratio: string
      market_order_size_max: string
      contract_type: string
      long_users: number
      short_users: number
      cross_leverage_default: string
      is_pre_market: boolean
    }[]
  }
  /** Shows one perpetual contract */
  'GET /api/v4/futures/{settle}/contracts/{contract}': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: undefined
    body: undefined
    reply: {
      name: string
      type: string
      quanto_multiplier: string
      leverage_min: string
      leverage_max: string
      maintenance_rate: string
      mark_type: string
      mark_price: string
      index_price: string
      last_price: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_round: string
      mark_price_round: string
      risk_limit_base: string
      risk_limit_step: string
      risk_limit_max: string
      order_price_deviate: string
      ref_discount_rate: string
      ref_rebate_rate: string
      orderbook_id: number
      trade_id: number
      config_change_time: number
      in_delisting: boolean
      orders_limit: number
      create_time: number
      status: string
      order_size_min: number | string
      order_size_max: number | string
      trade_size: number | string
      position_size: number | string
      funding_rate: string
      funding_rate_indicative: string
      funding_interval: number
      funding_next_apply: number
      funding_offset: number
      funding_cap_ratio: string
      funding_rate_limit: string
      funding_impact_value: string
      interest_rate: string
      enable_decimal: boolean
      enable_bonus: boolean
      enable_credit: boolean
      enable_circuit_breaker: boolean
      launch_time: number
      delisting_time: number
      delisted_time: number
      market_order_slip_ratio: string
      market_order_size_max: string
      contract_type: string
      long_users: number
      short_users: number
      cross_leverage_default: string
      is_pre_market: boolean
    }
  }
  /** A contract's open prices, best first; id counts the book's changes */
  'GET /api/v4/futures/{settle}/order_book': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      interval?: string
      limit?: number
      with_id?: boolean
    }
    body: undefined
    reply: {
      id?: number
      current: number
      update: number
      asks: {
        p: string
        s: number | string
      }[]
      bids: {
        p: string
        s: number | string
      }[]
    }
  }
  /** A contract's trades, newest first; the sign of the size is the taker's */
  'GET /api/v4/futures/{settle}/trades': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      limit?: number
      offset?: number
      last_id?: number
      from?: number
      to?: number
    }
    body: undefined
    reply: {
      id: number
      create_time: number
      create_time_ms: number
      contract: string
      size: number | string
      price: string
      is_internal: boolean
    }[]
  }
  /** Last price, best prices, mark, index and 24 hour figures of one contract or all */
  'GET /api/v4/futures/{settle}/tickers': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      timezone?: string
    }
    body: undefined
    reply: {
      contract: string
      last: string
      change_percentage: string
      total_size: string
      low_24h: string
      high_24h: string
      volume_24h: string
      volume_24h_btc: string
      volume_24h_usd: string
      volume_24h_base: string
      volume_24h_quote: string
      volume_24h_settle: string
      mark_price: string
      funding_rate: string
      funding_rate_indicative: string
      index_price: string
      quanto_base_rate: string
      lowest_ask: string
      lowest_size: string
      highest_bid: string
      highest_size: string
      change_utc0: string
      change_utc8: string
      change_price: string
      change_utc0_price: string
      change_utc8_price: string
    }[]
  }
  /** Candles of a contract, or of its mark or index price (mark_NAME, index_NAME), oldest first */
  'GET /api/v4/futures/{settle}/candlesticks': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      from?: number
      to?: number
      limit?: number
      interval?: "10s" | "30s" | "1m" | "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "6h" | "8h" | "12h" | "1d" | "7d" | "1w" | "30d"
      timezone?: "utc0" | "utc8" | "all"
    }
    body: undefined
    reply: {
      t: number
      v?: number | string
      c: string
      h: string
      l: string
      o: string
      sum: string
    }[]
  }
  /** The insurance fund now and at each midnight, UTC, newest first */
  'GET /api/v4/futures/{settle}/insurance': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      t: number
      b: string
    }[]
  }
  /** The risk limit tiers of one contract, or of all */
  'GET /api/v4/futures/{settle}/risk_limit_tiers': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      tier: number
      risk_limit: string
      initial_rate: string
      maintenance_rate: string
      leverage_max: string
      deduction: string
      contract?: string
    }[]
  }
  /** Lists the contracts of a settle currency, also those that were delisted */
  'GET /api/v4/futures/{settle}/contracts_all': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      name: string
      type: string
      quanto_multiplier: string
      leverage_min: string
      leverage_max: string
      maintenance_rate: string
      mark_type: string
      mark_price: string
      index_price: string
      last_price: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_round: string
      mark_price_round: string
      risk_limit_base: string
      risk_limit_step: string
      risk_limit_max: string
      order_price_deviate: string
      ref_discount_rate: string
      ref_rebate_rate: string
      orderbook_id: number
      trade_id: number
      config_change_time: number
      in_delisting: boolean
      orders_limit: number
      create_time: number
      status: string
      order_size_min: number | string
      order_size_max: number | string
      trade_size: number | string
      position_size: number | string
      funding_rate: string
      funding_rate_indicative: string
      funding_interval: number
      funding_next_apply: number
      funding_offset: number
      funding_cap_ratio: string
      funding_rate_limit: string
      funding_impact_value: string
      interest_rate: string
      enable_decimal: boolean
      enable_bonus: boolean
      enable_credit: boolean
      enable_circuit_breaker: boolean
      launch_time: number
      delisting_time: number
      delisted_time: number
      market_order_slip_ratio: string
      market_order_size_max: string
      contract_type: string
      long_users: number
      short_users: number
      cross_leverage_default: string
      is_pre_market: boolean
    }[]
  }
  /** How near each contract is to auto-deleveraging, by what the insurance fund has lost in a day */
  'GET /api/v4/futures/{settle}/adl_risk_states': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: undefined
    reply: {
      settle: string
      states: Record<string, {
        state: string
        calculated_at_ms: number
      }>
    }
  }
  /** Candles of how far the book is above the index, oldest first */
  'GET /api/v4/futures/{settle}/premium_index': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      from?: number
      to?: number
      limit?: number
      interval?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "8h" | "1d" | "7d"
    }
    body: undefined
    reply: {
      t: number
      c: string
      h: string
      l: string
      o: string
    }[]
  }
  /** Funding rates that were applied, newest first */
  'GET /api/v4/futures/{settle}/funding_rate': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      limit?: number
      from?: number
      to?: number
    }
    body: undefined
    reply: {
      t: number
      r: string
    }[]
  }
  /** The last 100 funding rates of several contracts, in the order asked */
  'POST /api/v4/futures/{settle}/funding_rates': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contracts: string[]
    }
    reply: {
      contract: string
      data: {
        t: number
        r: string
      }[]
    }[]
  }
  /** What takers and liquidations did, and who holds a contract, by spans of time, oldest first */
  'GET /api/v4/futures/{settle}/contract_stats': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      from?: number
      interval?: "5m" | "15m" | "30m" | "1h" | "4h" | "1d"
      limit?: number
    }
    body: undefined
    reply: {
      time: number
      lsr_taker: number
      lsr_account: number
      long_liq_size: number | string
      long_liq_amount: number
      long_liq_usd: number
      long_liq_usd_new: number
      short_liq_size: number | string
      short_liq_amount: number
      short_liq_usd: number
      short_liq_usd_new: number
      open_interest: number | string
      open_interest_usd: number
      top_lsr_account: number
      top_lsr_size: string
      mark_price: number
      top_long_size: number | string
      top_short_size: number | string
      long_taker_size: number | string
      short_taker_size: number | string
      top_long_account: number
      top_short_account: number
      long_users: number
      short_users: number
    }[]
  }
  /** What an index price is made of */
  'GET /api/v4/futures/{settle}/index_constituents/{index}': {
    path: {
      settle: "usdt" | "btc"
      index: string
    }
    query: undefined
    body: undefined
    reply: {
      index: string
      constituents: {
        exchange: string
        symbols: string[]
        price: string
        weight: string
      }[]
    }
  }
  /** Orders that liquidated positions, newest first; an hour at most */
  'GET /api/v4/futures/{settle}/liq_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      from?: number
      to?: number
      limit?: number
    }
    body: undefined
    reply: {
      time: number
      contract: string
      size: number | string
      order_size: number | string
      order_price: string
      fill_price: string
      left: number | string
    }[]
  }
  /** The tiers of a table, by the name that a position's risk_limit_table tells */
  'GET /api/v4/futures/{settle}/risk_limit_table': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      table_id: string
    }
    body: undefined
    reply: {
      tier: number
      risk_limit: string
      initial_rate: string
      maintenance_rate: string
      leverage_max: string
      deduction: string
    }[]
  }
  /** Lists the dated contracts of a settle currency, by name */
  'GET /api/v4/delivery/{settle}/contracts': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      name: string
      type: string
      quanto_multiplier: string
      leverage_min: string
      leverage_max: string
      maintenance_rate: string
      mark_type: string
      mark_price: string
      index_price: string
      last_price: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_round: string
      mark_price_round: string
      risk_limit_base: string
      risk_limit_step: string
      risk_limit_max: string
      order_price_deviate: string
      ref_discount_rate: string
      ref_rebate_rate: string
      orderbook_id: number
      trade_id: number
      config_change_time: number
      in_delisting: boolean
      orders_limit: number
      create_time: number
      status: string
      order_size_min: number
      order_size_max: number
      trade_size: number
      position_size: number
      underlying: string
      cycle: string
      basis_rate: string
      basis_value: string
      basis_impact_value: string
      settle_price: string
      settle_price_interval: number
      settle_price_duration: number
      settle_fee_rate: string
      expire_time: number
    }[]
  }
  /** Shows one dated contract */
  'GET /api/v4/delivery/{settle}/contracts/{contract}': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: undefined
    body: undefined
    reply: {
      name: string
      type: string
      quanto_multiplier: string
      leverage_min: string
      leverage_max: string
      maintenance_rate: string
      mark_type: string
      mark_price: string
      index_price: string
      last_price: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_round: string
      mark_price_round: string
      risk_limit_base: string
      risk_limit_step: string
      risk_limit_max: string
      order_price_deviate: string
      ref_discount_rate: string
      ref_rebate_rate: string
      orderbook_id: number
      trade_id: number
      config_change_time: number
      in_delisting: boolean
      orders_limit: number
      create_time: number
      status: string
      order_size_min: number
      order_size_max: number
      trade_size: number
      position_size: number
      underlying: string
      cycle: string
      basis_rate: string
      basis_value: string
      basis_impact_value: string
      settle_price: string
      settle_price_interval: number
      settle_price_duration: number
      settle_fee_rate: string
      expire_time: number
    }
  }
  /** A contract's open prices, best first; id counts the book's changes */
  'GET /api/v4/delivery/{settle}/order_book': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      interval?: string
      limit?: number
      with_id?: boolean
    }
    body: undefined
    reply: {
      id?: number
      current: number
      update: number
      asks: {
        p: string
        s: number
      }[]
      bids: {
        p: string
        s: number
      }[]
    }
  }
  /** A contract's trades, newest first; the sign of the size is the taker's */
  'GET /api/v4/delivery/{settle}/trades': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      limit?: number
      last_id?: number
      from?: number
      to?: number
    }
    body: undefined
    reply: {
      id: number
      create_time: number
      create_time_ms: number
      contract: string
      size: number | string
      price: string
      is_internal: boolean
    }[]
  }
  /** Last price, best prices, mark, index and 24 hour figures of one contract or all */
  'GET /api/v4/delivery/{settle}/tickers': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      timezone?: string
    }
    body: undefined
    reply: {
      contract: string
      last: string
      change_percentage: string
      total_size: string
      low_24h: string
      high_24h: string
      volume_24h: string
      volume_24h_btc: string
      volume_24h_usd: string
      volume_24h_base: string
      volume_24h_quote: string
      volume_24h_settle: string
      mark_price: string
      funding_rate: string
      funding_rate_indicative: string
      index_price: string
      quanto_base_rate: string
      lowest_ask: string
      lowest_size: string
      highest_bid: string
      highest_size: string
      basis_rate: string
      basis_value: string
    }[]
  }
  /** Candles of a contract, or of its mark or index price (mark_NAME, index_NAME), oldest first */
  'GET /api/v4/delivery/{settle}/candlesticks': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      from?: number
      to?: number
      limit?: number
      interval?: "10s" | "30s" | "1m" | "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "6h" | "8h" | "12h" | "1d" | "7d" | "1w" | "30d"
    }
    body: undefined
    reply: {
      t: number
      v?: number
      c: string
      h: string
      l: string
      o: string
    }[]
  }
  /** The insurance fund now and at each midnight, UTC, newest first */
  'GET /api/v4/delivery/{settle}/insurance': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      t: number
      b: string
    }[]
  }
  /** The risk limit tiers of one contract, or of all */
  'GET /api/v4/delivery/{settle}/risk_limit_tiers': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      tier: number
      risk_limit: string
      initial_rate: string
      maintenance_rate: string
      leverage_max: string
      deduction: string
      contract?: string
    }[]
  }
  /** The account's money and margin in a settle currency */
  'GET /api/v4/futures/{settle}/accounts': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: undefined
    reply: {
      total: string
      unrealised_pnl: string
      position_margin: string
      order_margin: string
      available: string
      position_initial_margin: string
      maintenance_margin: string
      cross_order_margin: string
      cross_initial_margin: string
      cross_maintenance_margin: string
      cross_unrealised_pnl: string
      cross_available: string
      cross_margin_balance: string
      cross_mmr: string
      cross_imr: string
      isolated_position_margin: string
      point: string
      bonus: string
      currency: string
      in_dual_mode: boolean
      enable_credit: boolean
      enable_evolved_classic: boolean
      enable_new_dual_mode: boolean
      enable_tiered_mm: boolean
      enable_dual_plus: boolean
      margin_mode: number
      margin_mode_name: string
      position_mode: string
      update_id: number
      update_time: number
      user: number
      history: {
        dnw: string
        pnl: string
        fee: string
        refr: string
        fund: string
        point_dnw: string
        point_fee: string
        point_refr: string
        bonus_dnw: string
        bonus_offset: string
        cross_settle: string
      }
    }
  }
  /** Every change of the account's money, newest first */
  'GET /api/v4/futures/{settle}/account_book': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      type?: "dnw" | "pnl" | "fee" | "refr" | "fund" | "point_dnw" | "point_fee" | "point_refr" | "bonus_offset"
    }
    body: undefined
    reply: {
      time: number
      change: string
      balance: string
      type: string
      text: string
      contract: string
      trade_id: string
      id: string
    }[]
  }
  /** The positions of every contract, of size 0 too unless holding is true */
  'GET /api/v4/futures/{settle}/positions': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      holding?: boolean
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** The position of one contract; in dual mode the array of both sides */
  'GET /api/v4/futures/{settle}/positions/{contract}': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: undefined
    body: undefined
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    } | {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Adds margin to an isolated position, or takes some away */
  'POST /api/v4/futures/{settle}/positions/{contract}/margin': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      change?: string
    }
    body: {
      change?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }
  }
  /** Sets the leverage of an isolated position, or with leverage 0 cross margin and its limit */
  'POST /api/v4/futures/{settle}/positions/{contract}/leverage': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      leverage?: string
      cross_leverage_limit?: string
    }
    body: {
      leverage?: string
      cross_leverage_limit?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    } | {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Sets a lower risk limit of one's own: one of the table's values */
  'POST /api/v4/futures/{settle}/positions/{contract}/risk_limit': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      risk_limit?: string
    }
    body: {
      risk_limit?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }
  }
  /** Places an order */
  'POST /api/v4/futures/{settle}/orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract: string
      size: number
      price: string
      tif?: "gtc" | "ioc" | "poc" | "fok"
      text?: string
      iceberg?: number
      close?: boolean
      reduce_only?: boolean
      auto_size?: "close_long" | "close_short"
      stp_act?: "cn" | "co" | "cb"
      market_order_slip_ratio?: string
      pos_margin_mode?: "isolated" | "cross"
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }
  }
  /** Lists open orders, or finished ones by the time they finished, newest first */
  'GET /api/v4/futures/{settle}/orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      status: "open" | "finished"
      contract?: string
      limit?: number
      offset?: number
      last_id?: number
      count_total?: number
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    }[]
  }
  /** Cancels all open orders, of one contract, side or text where they are named */
  'DELETE /api/v4/futures/{settle}/orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      side?: "bid" | "ask"
      exclude_reduce_only?: boolean
      text?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }[]
  }
  /** Shows one order, by its id or by the text that the client gave it */
  'GET /api/v4/futures/{settle}/orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    }
  }
  /** Cancels one order, by its id or text */
  'DELETE /api/v4/futures/{settle}/orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: {
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }
  }
  /** Amends an open order: its total size, its price */
  'PUT /api/v4/futures/{settle}/orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: {
      size?: number
      price?: string
      amend_text?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }
  }
  /** Creates an order that is placed when a price of its contract reaches a trigger */
  'POST /api/v4/futures/{settle}/price_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      initial: {
        contract: string
        size?: number
        amount?: number
        price: string
        tif?: "gtc" | "ioc"
        text?: string
        close?: boolean
        reduce_only?: boolean
        auto_size?: "close_long" | "close_short"
      }
      trigger: {
        strategy_type?: 0
        price_type?: 0 | 1 | 2
        price: string
        rule: 1 | 2
        expiration?: number
      }
      order_type?: "close-long-position" | "close-short-position" | "plan-close-long-position" | "plan-close-short-position"
      pos_margin_mode?: "isolated" | "cross"
    }
    reply: {
      id: number
      id_string: string
    }
  }
  /** Lists price orders that wait, or that have ended, newest first */
  'GET /api/v4/futures/{settle}/price_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      status: "open" | "finished"
      contract?: string
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }[]
  }
  /** Cancels all waiting price orders, of one contract where it is named */
  'DELETE /api/v4/futures/{settle}/price_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
    }
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }[]
  }
  /** Shows one price order */
  'GET /api/v4/futures/{settle}/price_orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }
  }
  /** Cancels a waiting price order */
  'DELETE /api/v4/futures/{settle}/price_orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }
  }
  /** Changes a waiting price order */
  'PUT /api/v4/futures/{settle}/price_orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: {
      size?: number
      amount?: number
      price?: string
      trigger_price?: string
      price_type?: 0 | 1 | 2
      auto_size?: "close_long" | "close_short"
      close?: boolean
    }
    reply: {
      id: number
      id_string: string
    }
  }
  /** Lists the account's own trades, newest first */
  'GET /api/v4/futures/{settle}/my_trades': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      order?: number
      order_id?: number
      limit?: number
      offset?: number
      last_id?: number
      count_total?: number
    }
    body: undefined
    reply: {
      id: number
      create_time: number
      contract: string
      order_id: string
      size: number | string
      close_size: number | string
      price: string
      role: string
      text: string
      fee: string
      point_fee: string
      trade_value?: string
    }[]
  }
  /** Lists positions that ended, newest first */
  'GET /api/v4/futures/{settle}/position_close': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      side?: "long" | "short"
      pnl?: "profit" | "loss"
    }
    body: undefined
    reply: {
      time: number
      contract: string
      side: string
      pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      text: string
      max_size: string
      accum_size: string
      first_open_time: number
      long_price: string
      short_price: string
    }[]
  }
  /** Lists the liquidations of the account's positions, newest first */
  'GET /api/v4/futures/{settle}/liquidates': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      at?: number
    }
    body: undefined
    reply: {
      time: number
      contract: string
      leverage: string
      size: number | string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      order_id: number
      order_price: string
      fill_price: string
      left: number | string
    }[]
  }
  /** Switches between one position a contract and two, long and short, for the whole settle currency */
  'POST /api/v4/futures/{settle}/dual_mode': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      dual_mode?: boolean
    }
    body: {
      dual_mode?: boolean
    }
    reply: {
      total: string
      unrealised_pnl: string
      position_margin: string
      order_margin: string
      available: string
      position_initial_margin: string
      maintenance_margin: string
      cross_order_margin: string
      cross_initial_margin: string
      cross_maintenance_margin: string
      cross_unrealised_pnl: string
      cross_available: string
      cross_margin_balance: string
      cross_mmr: string
      cross_imr: string
      isolated_position_margin: string
      point: string
      bonus: string
      currency: string
      in_dual_mode: boolean
      enable_credit: boolean
      enable_evolved_classic: boolean
      enable_new_dual_mode: boolean
      enable_tiered_mm: boolean
      enable_dual_plus: boolean
      margin_mode: number
      margin_mode_name: string
      position_mode: string
      update_id: number
      update_time: number
      user: number
      history: {
        dnw: string
        pnl: string
        fee: string
        refr: string
        fund: string
        point_dnw: string
        point_fee: string
        point_refr: string
        bonus_dnw: string
        bonus_offset: string
        cross_settle: string
      }
    }
  }
  /** The same as dual_mode, by the name of the mode */
  'POST /api/v4/futures/{settle}/set_position_mode': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      position_mode?: "single" | "dual"
    }
    body: {
      position_mode?: "single" | "dual"
    }
    reply: {
      total: string
      unrealised_pnl: string
      position_margin: string
      order_margin: string
      available: string
      position_initial_margin: string
      maintenance_margin: string
      cross_order_margin: string
      cross_initial_margin: string
      cross_maintenance_margin: string
      cross_unrealised_pnl: string
      cross_available: string
      cross_margin_balance: string
      cross_mmr: string
      cross_imr: string
      isolated_position_margin: string
      point: string
      bonus: string
      currency: string
      in_dual_mode: boolean
      enable_credit: boolean
      enable_evolved_classic: boolean
      enable_new_dual_mode: boolean
      enable_tiered_mm: boolean
      enable_dual_plus: boolean
      margin_mode: number
      margin_mode_name: string
      position_mode: string
      update_id: number
      update_time: number
      user: number
      history: {
        dnw: string
        pnl: string
        fee: string
        refr: string
        fund: string
        point_dnw: string
        point_fee: string
        point_refr: string
        bonus_dnw: string
        bonus_offset: string
        cross_settle: string
      }
    }
  }
  /** The account's own rates, by contract */
  'GET /api/v4/futures/{settle}/fee': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
    }
    body: undefined
    reply: Record<string, {
      taker_fee: string
      maker_fee: string
    }>
  }
  /** Tells the leverage that a margin mode has, or that of the present one */
  'GET /api/v4/futures/{settle}/get_leverage/{contract}': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      pos_margin_mode?: "isolated" | "cross"
      dual_side?: "dual_long" | "dual_short"
    }
    body: undefined
    reply: {
      lever: string
      Lever: string
    }
  }
  /** Sets margin mode and leverage at once */
  'POST /api/v4/futures/{settle}/positions/{contract}/set_leverage': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      leverage?: string
      margin_mode?: "isolated" | "cross"
      dual_side?: "dual_long" | "dual_short"
    }
    body: {
      leverage?: string
      margin_mode?: "isolated" | "cross"
      dual_side?: "dual_long" | "dual_short"
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }
  }
  /** Switches a contract between isolated and cross margin */
  'POST /api/v4/futures/{settle}/positions/cross_mode': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      mode?: "isolated" | "cross"
      contract?: string
    }
    body: {
      mode?: "isolated" | "cross"
      contract?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }
  }
  /** Switches both sides of a contract between isolated and cross margin */
  'POST /api/v4/futures/{settle}/dual_comp/positions/cross_mode': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      mode?: "isolated" | "cross"
      contract?: string
    }
    body: {
      mode?: "isolated" | "cross"
      contract?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Both sides of a contract in dual mode; in single mode an array of the one position */
  'GET /api/v4/futures/{settle}/dual_comp/positions/{contract}': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: undefined
    body: undefined
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Adds margin to one side of a contract, or takes some away */
  'POST /api/v4/futures/{settle}/dual_comp/positions/{contract}/margin': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      change?: string
      dual_side?: "dual_long" | "dual_short"
    }
    body: {
      change?: string
      dual_side?: "dual_long" | "dual_short"
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Sets the leverage of both sides of a contract */
  'POST /api/v4/futures/{settle}/dual_comp/positions/{contract}/leverage': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      leverage?: string
      cross_leverage_limit?: string
    }
    body: {
      leverage?: string
      cross_leverage_limit?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Sets a lower risk limit of both sides of a contract */
  'POST /api/v4/futures/{settle}/dual_comp/positions/{contract}/risk_limit': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      risk_limit?: string
    }
    body: {
      risk_limit?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Places an order at the level-th price of the other side of the book */
  'POST /api/v4/futures/{settle}/bbo_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract: string
      size: number
      direction: "buy" | "sell"
      level: number
      tif?: "gtc" | "ioc" | "poc" | "fok"
      text?: string
      iceberg?: number
      close?: boolean
      reduce_only?: boolean
      auto_size?: "close_long" | "close_short"
      stp_act?: "cn" | "co" | "cb"
    }
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    }
  }
  /** Lists all orders by the time they were placed, newest first */
  'GET /api/v4/futures/{settle}/orders_timerange': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      from?: number
      to?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: string
      finish_time?: string
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    }[]
  }
  /** Cancels all orders unless called again in time; 0 stops the countdown */
  'POST /api/v4/futures/{settle}/countdown_cancel_all': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      timeout: number
      contract?: string
    }
    reply: {
      triggerTime: number
    }
  }
  /** Places several orders; what the market refuses fails by itself, what can not be read fails the call */
  'POST /api/v4/futures/{settle}/batch_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract: string
      size: number
      price: string
      tif?: "gtc" | "ioc" | "poc" | "fok"
      text?: string
      iceberg?: number
      close?: boolean
      reduce_only?: boolean
      auto_size?: "close_long" | "close_short"
      stp_act?: "cn" | "co" | "cb"
      market_order_slip_ratio?: string
      pos_margin_mode?: "isolated" | "cross"
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }[]
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
      succeeded: boolean
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      succeeded: boolean
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      succeeded: boolean
    } | {
      succeeded: boolean
      label: string
      detail: string
      text: string
    }[]
  }
  /** Amends several orders, in the order of the list */
  'POST /api/v4/futures/{settle}/batch_amend_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      size?: number
      price?: string
      amend_text?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
      order_id?: string
      text?: string
    }[]
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
      succeeded: boolean
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      succeeded: boolean
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      succeeded: boolean
    } | {
      succeeded: boolean
      label: string
      detail: string
      text: string
    }[]
  }
  /** Cancels several orders by id or text */
  'POST /api/v4/futures/{settle}/batch_cancel_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: string[]
    reply: {
      id: string
      user_id: number
      succeeded: boolean
      message: string
    }[]
  }
  /** Changes a waiting price order, which the body names */
  'PUT /api/v4/futures/{settle}/price_orders/amend': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      order_id: string
      size?: number
      amount?: number
      price?: string
      trigger_price?: string
      price_type?: 0 | 1 | 2
      auto_size?: "close_long" | "close_short"
      close?: boolean
    }
    reply: {
      id: number
      id_string: string
    }
  }
  /** Creates an order that follows the best price and is placed when the price has come back */
  'POST /api/v4/futures/{settle}/autoorder/v1/trail/create': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract: string
      amount: number
      activation_price?: string
      is_gte?: boolean
      price_type?: 1 | 2 | 3
      price_offset: string
      reduce_only?: boolean
      position_related?: boolean
      text?: string
      pos_margin_mode?: "isolated" | "cross"
      position_mode?: "single" | "dual"
    }
    reply: {
      code: number
      message: string
      data: {
        id: number
      }
      timestamp: number
    }
  }
  /** Cancels a trail order, by its id or text */
  'POST /api/v4/futures/{settle}/autoorder/v1/trail/stop': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      id?: number
      text?: string
    }
    reply: {
      order: {
        id: number
        user_id: number
        user: number
        suborder_id: number
        contract: string
        settle: string
        amount: string
        is_gte: boolean
        activation_price: string
        price_type: number
        price_offset: string
        text: string
        reduce_only: boolean
        position_related: boolean
        is_dual_mode: boolean
        created_at: number
        activated_at: number
        finished_at: number
        create_time: number
        active_time: number
        finish_time: number
        updated_at: number
        reason: string
        suborder_text: string
        trigger_price: string
        extremum_price: string
        side_label: string
        position_side_output: string
        original_status: number
        status_code: string
        status: string
        status_label: string
        created_at_precise: string
        finished_at_precise: string
        activated_at_precise: string
        pos_margin_mode: string
        position_mode: string
        error_label: string
        leverage: string
      }
    }
  }
  /** Cancels all trail orders, of one contract or side of a position where they are named */
  'POST /api/v4/futures/{settle}/autoorder/v1/trail/stop_all': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract?: string
      related_position?: 1 | 2
    }
    reply: {
      orders: {
        id: number
        user_id: number
        user: number
        suborder_id: number
        contract: string
        settle: string
        amount: string
        is_gte: boolean
        activation_price: string
        price_type: number
        price_offset: string
        text: string
        reduce_only: boolean
        position_related: boolean
        is_dual_mode: boolean
        created_at: number
        activated_at: number
        finished_at: number
        create_time: number
        active_time: number
        finish_time: number
        updated_at: number
        reason: string
        suborder_text: string
        trigger_price: string
        extremum_price: string
        side_label: string
        position_side_output: string
        original_status: number
        status_code: string
        status: string
        status_label: string
        created_at_precise: string
        finished_at_precise: string
        activated_at_precise: string
        pos_margin_mode: string
        position_mode: string
        error_label: string
        leverage: string
      }[]
    }
  }
  /** Lists trail orders that wait, or that have ended, newest first */
  'GET /api/v4/futures/{settle}/autoorder/v1/trail/list': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      is_finished?: boolean
      start_at?: number
      end_at?: number
      page_num?: number
      page_size?: number
      hide_cancel?: boolean
      reduce_only?: 0 | 1 | 2
      side?: 0 | 1 | 2
      sort_by?: 1 | 2
      related_position?: 1 | 2
      sort_by_trigger?: boolean
    }
    body: undefined
    reply: {
      orders: {
        id: number
        user_id: number
        user: number
        suborder_id: number
        contract: string
        settle: string
        amount: string
        is_gte: boolean
        activation_price: string
        price_type: number
        price_offset: string
        text: string
        reduce_only: boolean
        position_related: boolean
        is_dual_mode: boolean
        created_at: number
        activated_at: number
        finished_at: number
        create_time: number
        active_time: number
        finish_time: number
        updated_at: number
        reason: string
        suborder_text: string
        trigger_price: string
        extremum_price: string
        side_label: string
        position_side_output: string
        original_status: number
        status_code: string
        status: string
        status_label: string
        created_at_precise: string
        finished_at_precise: string
        activated_at_precise: string
        pos_margin_mode: string
        position_mode: string
        error_label: string
        leverage: string
      }[]
    }
  }
  /** Shows one trail order */
  'GET /api/v4/futures/{settle}/autoorder/v1/trail/detail': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      id: number
    }
    body: undefined
    reply: {
      code: number
      message: string
      data: {
        order: {
          id: number
          user_id: number
          user: number
          suborder_id: number
          contract: string
          settle: string
          amount: string
          is_gte: boolean
          activation_price: string
          price_type: number
          price_offset: string
          text: string
          reduce_only: boolean
          position_related: boolean
          is_dual_mode: boolean
          created_at: number
          activated_at: number
          finished_at: number
          create_time: number
          active_time: number
          finish_time: number
          updated_at: number
          reason: string
          suborder_text: string
          trigger_price: string
          extremum_price: string
          side_label: string
          position_side_output: string
          original_status: number
          status_code: string
          status: string
          status_label: string
          created_at_precise: string
          finished_at_precise: string
          activated_at_precise: string
          pos_margin_mode: string
          position_mode: string
          error_label: string
          leverage: string
        }
      }
      timestamp: number
    }
  }
  /** Changes a trail order that waits */
  'POST /api/v4/futures/{settle}/autoorder/v1/trail/update': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      id: number
      amount?: number
      activation_price?: string
      is_gte_str?: "true" | "false" | ""
      price_type?: 0 | 1 | 2 | 3
      price_offset?: string
    }
    reply: {
      order: {
        id: number
        user_id: number
        user: number
        suborder_id: number
        contract: string
        settle: string
        amount: string
        is_gte: boolean
        activation_price: string
        price_type: number
        price_offset: string
        text: string
        reduce_only: boolean
        position_related: boolean
        is_dual_mode: boolean
        created_at: number
        activated_at: number
        finished_at: number
        create_time: number
        active_time: number
        finish_time: number
        updated_at: number
        reason: string
        suborder_text: string
        trigger_price: string
        extremum_price: string
        side_label: string
        position_side_output: string
        original_status: number
        status_code: string
        status: string
        status_label: string
        created_at_precise: string
        finished_at_precise: string
        activated_at_precise: string
        pos_margin_mode: string
        position_mode: string
        error_label: string
        leverage: string
      }
    }
  }
  /** What a trail order was when it was created, and after each change; newest first */
  'GET /api/v4/futures/{settle}/autoorder/v1/trail/change_log': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      id: number
      page_num?: number
      page_size?: number
    }
    body: undefined
    reply: {
      change_log: {
        updated_at: number
        amount: string
        is_gte: boolean
        activation_price: string
        price_type: number
        price_offset: string
        is_create: boolean
      }[]
    }
  }
  /** Creates a post-only order that is kept at the best price of its side, or at a gap from it */
  'POST /api/v4/futures/{settle}/autoorder/v1/chase/create': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract: string
      amount: number
      price_limit?: string
      offset_limit?: string
      reduce_only?: boolean
      text?: string
      price_type?: 1 | 2
      price_gap_type?: 1 | 2
      price_gap_value?: string
      is_dual_mode?: boolean
      pos_margin_mode?: "isolated" | "cross"
      position_mode?: "single" | "dual"
    }
    reply: {
      id: string
    }
  }
  /** Stops a chase order, by its id or text, and cancels what it placed */
  'POST /api/v4/futures/{settle}/autoorder/v1/chase/stop': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      id?: number
      text?: string
    }
    reply: {
      order: {
        id: string
        user: string
        contract: string
        settle: string
        amount: string
        price_limit: string
        reduce_only: boolean
        text: string
        create_time: number
        finish_time: number
        updated_at: number
        original_status: number
        status: string
        reason: string
        fill_amount: string
        average_fill_price: string
        suborder_id: string
        is_dual_mode: boolean
        side_label: string
        position_side_output: string
        chase_price: string
        interval_sec: number
        suborder_price: string
        suborder_ongoing: boolean
        suborder_finish_as: string
        price_type: number
        price_gap_type: string
        price_gap_value: string
        status_code: string
        create_time_precise: string
        finish_time_precise: string
        pos_margin_mode: string
        position_mode: string
        leverage: string
        error_label: string
      }
    }
  }
  /** Stops all chase orders, of one contract or margin mode where they are named */
  'POST /api/v4/futures/{settle}/autoorder/v1/chase/stop_all': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract?: string
      pos_margin_mode?: "isolated" | "cross"
    }
    reply: {
      orders: {
        id: string
        user: string
        contract: string
        settle: string
        amount: string
        price_limit: string
        reduce_only: boolean
        text: string
        create_time: number
        finish_time: number
        updated_at: number
        original_status: number
        status: string
        reason: string
        fill_amount: string
        average_fill_price: string
        suborder_id: string
        is_dual_mode: boolean
        side_label: string
        position_side_output: string
        chase_price: string
        interval_sec: number
        suborder_price: string
        suborder_ongoing: boolean
        suborder_finish_as: string
        price_type: number
        price_gap_type: string
        price_gap_value: string
        status_code: string
        create_time_precise: string
        finish_time_precise: string
        pos_margin_mode: string
        position_mode: string
        leverage: string
        error_label: string
      }[]
    }
  }
  /** Lists chase orders that go on, or that have ended, newest first */
  'GET /api/v4/futures/{settle}/autoorder/v1/chase/list': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      is_finished?: boolean
      start_at?: number
      end_at?: number
      page_num?: number
      page_size?: number
      hide_cancel?: boolean
      reduce_only?: 0 | 1 | 2
      side?: 0 | 1 | 2
      sort_by: 1 | 2
    }
    body: undefined
    reply: {
      orders: {
        id: string
        user: string
        contract: string
        settle: string
        amount: string
        price_limit: string
        reduce_only: boolean
        text: string
        create_time: number
        finish_time: number
        updated_at: number
        original_status: number
        status: string
        reason: string
        fill_amount: string
        average_fill_price: string
        suborder_id: string
        is_dual_mode: boolean
        side_label: string
        position_side_output: string
        chase_price: string
        interval_sec: number
        suborder_price: string
        suborder_ongoing: boolean
        suborder_finish_as: string
        price_type: number
        price_gap_type: string
        price_gap_value: string
        status_code: string
        create_time_precise: string
        finish_time_precise: string
        pos_margin_mode: string
        position_mode: string
        leverage: string
        error_label: string
      }[]
    }
  }
  /** Shows one chase order */
  'GET /api/v4/futures/{settle}/autoorder/v1/chase/detail': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      id: number
    }
    body: undefined
    reply: {
      order: {
        id: string
        user: string
        contract: string
        settle: string
        amount: string
        price_limit: string
        reduce_only: boolean
        text: string
        create_time: number
        finish_time: number
        updated_at: number
        original_status: number
        status: string
        reason: string
        fill_amount: string
        average_fill_price: string
        suborder_id: string
        is_dual_mode: boolean
        side_label: string
        position_side_output: string
        chase_price: string
        interval_sec: number
        suborder_price: string
        suborder_ongoing: boolean
        suborder_finish_as: string
        price_type: number
        price_gap_type: string
        price_gap_value: string
        status_code: string
        create_time_precise: string
        finish_time_precise: string
        pos_margin_mode: string
        position_mode: string
        leverage: string
        error_label: string
      }
    }
  }
  /** Lists the account's own trades of a span of time, newest first */
  'GET /api/v4/futures/{settle}/my_trades_timerange': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      from?: number
      to?: number
      limit?: number
      offset?: number
      role?: "maker" | "taker"
      order_id?: number
    }
    body: undefined
    reply: {
      trade_id: string
      create_time: number
      contract: string
      order_id: string
      size: number | string
      close_size: number | string
      price: string
      role: string
      text: string
      fee: string
      point_fee: string
    }[]
  }
  /** Lists what a contract's position was after each change, newest first */
  'GET /api/v4/futures/{settle}/positions_timerange': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract: string
      from?: number
      to?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      margin: string
      liq_price: string
      realised_pnl: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      mode: string
      cross_leverage_limit: string
      entry_price: string
      time: number
    }[]
  }
  /** Lists what the account was made to give up by auto-deleveraging, newest first */
  'GET /api/v4/futures/{settle}/auto_deleverages': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      at?: number
    }
    body: undefined
    reply: {
      time: number
      user: number
      order_id: number
      contract: string
      leverage: string
      cross_leverage_limit: string
      entry_price: string
      fill_price: string
      trade_size: number | string
      position_size: number | string
    }[]
  }
  /** The account's money and margin in a settle currency */
  'GET /api/v4/delivery/{settle}/accounts': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: undefined
    reply: {
      total: string
      unrealised_pnl: string
      position_margin: string
      order_margin: string
      available: string
      position_initial_margin: string
      maintenance_margin: string
      cross_order_margin: string
      cross_initial_margin: string
      cross_maintenance_margin: string
      cross_unrealised_pnl: string
      cross_available: string
      cross_margin_balance: string
      cross_mmr: string
      cross_imr: string
      isolated_position_margin: string
      point: string
      bonus: string
      currency: string
      in_dual_mode: boolean
      enable_credit: boolean
      enable_evolved_classic: boolean
      enable_new_dual_mode: boolean
      enable_tiered_mm: boolean
      enable_dual_plus: boolean
      margin_mode: number
      margin_mode_name: string
      position_mode: string
      update_id: number
      update_time: number
      user: number
      history: {
        dnw: string
        pnl: string
        fee: string
        refr: string
        fund: string
        point_dnw: string
        point_fee: string
        point_refr: string
        bonus_dnw: string
        bonus_offset: string
        cross_settle: string
      }
    }
  }
  /** Every change of the account's money, newest first */
  'GET /api/v4/delivery/{settle}/account_book': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      type?: "dnw" | "pnl" | "fee" | "refr" | "fund" | "point_dnw" | "point_fee" | "point_refr" | "bonus_offset"
    }
    body: undefined
    reply: {
      time: number
      change: string
      balance: string
      type: string
      text: string
      contract: string
      trade_id: string
      id: string
    }[]
  }
  /** The positions of every contract, of size 0 too unless holding is true */
  'GET /api/v4/delivery/{settle}/positions': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      holding?: boolean
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** The position of one contract; in dual mode the array of both sides */
  'GET /api/v4/delivery/{settle}/positions/{contract}': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: undefined
    body: undefined
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    } | {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Adds margin to an isolated position, or takes some away */
  'POST /api/v4/delivery/{settle}/positions/{contract}/margin': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      change?: string
    }
    body: {
      change?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }
  }
  /** Sets the leverage of an isolated position, or with leverage 0 cross margin and its limit */
  'POST /api/v4/delivery/{settle}/positions/{contract}/leverage': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      leverage?: string
      cross_leverage_limit?: string
    }
    body: {
      leverage?: string
      cross_leverage_limit?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    } | {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }[]
  }
  /** Sets a lower risk limit of one's own: one of the table's values */
  'POST /api/v4/delivery/{settle}/positions/{contract}/risk_limit': {
    path: {
      settle: "usdt" | "btc"
      contract: string
    }
    query: {
      risk_limit?: string
    }
    body: {
      risk_limit?: string
    }
    reply: {
      user: number
      contract: string
      size: number | string
      leverage: string
      risk_limit: string
      leverage_max: string
      maintenance_rate: string
      value: string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      initial_margin: string
      maintenance_margin: string
      unrealised_pnl: string
      average_maintenance_rate: string
      realised_pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      history_pnl: string
      last_close_pnl: string
      realised_point: string
      history_point: string
      adl_ranking: number
      pending_orders: number
      close_order: {
        id: number
        price: string
        is_liq: boolean
      } | null
      mode: string
      cross_leverage_limit: string
      update_time?: number
      update_id: number
      open_time: number
      risk_limit_table: string
      pid?: number
      pos_margin_mode: string
      lever?: string
      trade_max_size: string
    }
  }
  /** Places an order */
  'POST /api/v4/delivery/{settle}/orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      contract: string
      size: number
      price: string
      tif?: "gtc" | "ioc" | "poc" | "fok"
      text?: string
      iceberg?: number
      close?: boolean
      reduce_only?: boolean
      auto_size?: "close_long" | "close_short"
      stp_act?: "cn" | "co" | "cb"
      market_order_slip_ratio?: string
      pos_margin_mode?: "isolated" | "cross"
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }
  }
  /** Lists open orders, or finished ones by the time they finished, newest first */
  'GET /api/v4/delivery/{settle}/orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      status: "open" | "finished"
      contract?: string
      limit?: number
      offset?: number
      last_id?: number
      count_total?: number
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    }[]
  }
  /** Cancels all open orders of a contract */
  'DELETE /api/v4/delivery/{settle}/orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      side?: "bid" | "ask"
      exclude_reduce_only?: boolean
      text?: string
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }[]
  }
  /** Shows one order, by its id or by the text that the client gave it */
  'GET /api/v4/delivery/{settle}/orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    }
  }
  /** Cancels one order, by its id or text */
  'DELETE /api/v4/delivery/{settle}/orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: {
      action_mode?: "ACK" | "RESULT" | "FULL"
    }
    body: undefined
    reply: {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
      tkfr: string
      mkfr: string
      refu: number
      refr: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
      user: number
      update_time?: number
      finish_time?: number
      finish_as?: string
      size: number | string
      iceberg: number | string
      price: string
      is_close: boolean
      is_reduce_only: boolean
      is_liq: boolean
      tif: string
      left: number | string
      fill_price: string
      stp_id: number
      stp_act: string
      amend_text: string
      biz_info: string
      market_order_slip_ratio?: string
      pos_margin_mode?: string
      tpsl_tp_trigger_price?: string
      tpsl_sl_trigger_price?: string
    } | {
      id: number
      text: string
      contract: string
      create_time: number
      status: string
    }
  }
  /** Creates an order that is placed when a price of its contract reaches a trigger */
  'POST /api/v4/delivery/{settle}/price_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: undefined
    body: {
      initial: {
        contract: string
        size?: number
        amount?: number
        price: string
        tif?: "gtc" | "ioc"
        text?: string
        close?: boolean
        reduce_only?: boolean
        auto_size?: "close_long" | "close_short"
      }
      trigger: {
        strategy_type?: 0
        price_type?: 0 | 1 | 2
        price: string
        rule: 1 | 2
        expiration?: number
      }
      order_type?: "close-long-position" | "close-short-position" | "plan-close-long-position" | "plan-close-short-position"
      pos_margin_mode?: "isolated" | "cross"
    }
    reply: {
      id: number
      id_string: string
    }
  }
  /** Lists price orders that wait, or that have ended, newest first */
  'GET /api/v4/delivery/{settle}/price_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      status: "open" | "finished"
      contract?: string
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }[]
  }
  /** Cancels all waiting price orders of a contract */
  'DELETE /api/v4/delivery/{settle}/price_orders': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
    }
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }[]
  }
  /** Shows one price order */
  'GET /api/v4/delivery/{settle}/price_orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }
  }
  /** Cancels a waiting price order */
  'DELETE /api/v4/delivery/{settle}/price_orders/{order_id}': {
    path: {
      settle: "usdt" | "btc"
      order_id: string
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      id_string: string
      user: number
      create_time: number
      finish_time?: number
      trade_id: number
      status: string
      finish_as?: string
      reason: string
      order_type: string
      me_order_id: number
      pos_margin_mode: string
      initial: {
        contract: string
        size: number
        amount: string
        price: string
        close: boolean
        tif: string
        text: string
        reduce_only: boolean
        auto_size: string
        is_reduce_only: boolean
        is_close: boolean
        iceberg: number
      }
      trigger: {
        strategy_type: number
        price_type: number
        price: string
        rule: number
        expiration: number
      }
    }
  }
  /** Lists the account's own trades, newest first */
  'GET /api/v4/delivery/{settle}/my_trades': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      order?: number
      order_id?: number
      from?: number
      to?: number
      limit?: number
      offset?: number
      last_id?: number
      count_total?: number
    }
    body: undefined
    reply: {
      id: number
      create_time: number
      contract: string
      order_id: string
      size: number | string
      close_size: number | string
      price: string
      role: string
      text: string
      fee: string
      point_fee: string
      trade_value?: string
    }[]
  }
  /** Lists positions that ended, newest first */
  'GET /api/v4/delivery/{settle}/position_close': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      side?: "long" | "short"
      pnl?: "profit" | "loss"
    }
    body: undefined
    reply: {
      time: number
      contract: string
      side: string
      pnl: string
      pnl_pnl: string
      pnl_fund: string
      pnl_fee: string
      text: string
      max_size: number
      accum_size: number
      first_open_time: number
      long_price: string
      short_price: string
    }[]
  }
  /** Lists the liquidations of the account's positions, newest first */
  'GET /api/v4/delivery/{settle}/liquidates': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      at?: number
    }
    body: undefined
    reply: {
      time: number
      contract: string
      leverage: string
      size: number | string
      margin: string
      entry_price: string
      liq_price: string
      mark_price: string
      order_id: number
      order_price: string
      fill_price: string
      left: number | string
    }[]
  }
  /** Lists positions that ended with their contracts, newest first */
  'GET /api/v4/delivery/{settle}/settlements': {
    path: {
      settle: "usdt" | "btc"
    }
    query: {
      contract?: string
      limit?: number
      offset?: number
      from?: number
      to?: number
      at?: number
    }
    body: undefined
    reply: {
      time: number
      contract: string
      leverage: string
      size: number
      margin: string
      entry_price: string
      settle_price: string
      profit: string
      fee: string
    }[]
  }
  /** Tells mode, time, version, store and sequence */
  'GET /operator/v1/status': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      mode: string
      now: number
      version: string
      store: string
      sequence: number
      projection: {
        sequence: number
        lag_batches: number
        lag_bytes: number
      }
      warnings: string[]
      halted: {
        by: string
        at: number
        reason: string
      } | null
      markets_halted: string[]
      gateways: {
        pid: number
        connections: number
      }[]
      cluster: {
        node: string
        epoch: number
        lease_left_ms: number
        gateways: {
          name: string
          address: string
          version: string
          connections: number
        }[]
      } | null
    }
  }
  /** How it has been doing: a line of figures for every ten seconds of the last hour, oldest first */
  'GET /operator/v1/health': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      time: number
      requests_per_second: number
      errors_per_second: number
      commits_per_second: number
      commit_ms: number
      lag_batches: number
      lag_bytes: number
      waiting: number
      sockets: number
      memory_bytes: number
      busy: number
    }[]
  }
  /** Tells the platform's clock */
  'GET /operator/v1/clock': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      now: number
      offset_seconds: number
    }
  }
  /** Moves the clock forward; everything due in between happens, in order, before the answer */
  'POST /operator/v1/clock': {
    path: undefined
    query: undefined
    body: {
      advance_seconds?: number
      now?: number
    }
    reply: {
      now: number
      offset_seconds: number
      due_failed: number
    }
  }
  /** What operators did, hash-chained, oldest first; from is the first id (or Unix seconds) */
  'GET /operator/v1/audit': {
    path: undefined
    query: {
      from?: number
      limit?: number
    }
    body: undefined
    reply: {
      id: number
      time: number
      operator: string
      action: string
      detail: unknown
      previous_hash: string
      hash: string
      at: string
    }[]
  }
  /** Back to the world of the first start, with the same keys and tokens */
  'POST /operator/v1/reset': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      now: number
      sequence: number
    }
  }
  /** Lists the operators, with when their tokens expire (0: never) */
  'GET /operator/v1/operators': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      name: string
      role: string
      created_at: number
      token_days: number
      expires: number
    }[]
  }
  /** Creates an operator; the token is shown here and never again. In live mode each of the two admins is shown one half of it */
  'POST /operator/v1/operators': {
    path: undefined
    query: undefined
    body: {
      name: string
      role: "viewer" | "operator" | "admin"
      token_days?: number
    }
    reply: {
      name: string
      role: string
      created_at: number
      token_days: number
      expires: number
      token: string
    }
  }
  /** Draws a new token for the operator who asks and gives its own name; the old token stops working at once */
  'POST /operator/v1/operators/me/token': {
    path: undefined
    query: undefined
    body: {
      name: string
    }
    reply: {
      name: string
      role: string
      created_at: number
      token_days: number
      expires: number
      token: string
    }
  }
  /** Removes an operator; the token stops working at once */
  'DELETE /operator/v1/operators/{name}': {
    path: {
      name: string
    }
    query: undefined
    body: undefined
    reply: {
      proposal: {
        id: number
        call: string
        command: string
        input: unknown
        role: string
        asked_by: string
        confirmations: {
          operator: string
          at: number
        }[]
        state: string
        reason: string
        create_time: number
        expires_at: number
        effective_at: number
      }
    }
  }
  /** Makes an operator draw another token: the present one ends in so many hours. token_days: how long later ones last, 0 for ever */
  'POST /operator/v1/operators/{name}/expire_token': {
    path: {
      name: string
    }
    query: undefined
    body: {
      hours?: number
      token_days?: number
    }
    reply: {
      name: string
      role: string
      created_at: number
      token_days: number
      expires: number
    }
  }
  /** Lists the fault rules in force; left: on how many requests one will still act */
  'GET /operator/v1/faults': {
    path: undefined
    query: undefined
    body: undefined
    reply: unknown[]
  }
  /** Replaces the fault rules: errors, delays, lost replies and duplicates on demand; with match.channel on sockets, cut lines and gaps too */
  'PUT /operator/v1/faults': {
    path: undefined
    query: undefined
    body: {
      match?: {
        method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
        path?: string
        user_id?: number
        key?: string
        channel?: string
      }
      effect?: "error" | "delay" | "drop_reply" | "duplicate" | "disconnect" | "gap" | "pass" | "delay_ms"
      status?: number
      label?: string
      delay_ms?: number
      sequence?: {
        effect: "error" | "delay" | "drop_reply" | "duplicate" | "disconnect" | "gap" | "pass" | "delay_ms"
        status?: number
        label?: string
        delay_ms?: number
      }[]
      times?: number
      probability?: number
      seed?: number
    }[]
    reply: unknown[]
  }
  /** Adds one fault rule after those that there are, which keep their count */
  'POST /operator/v1/faults': {
    path: undefined
    query: undefined
    body: {
      match?: {
        method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
        path?: string
        user_id?: number
        key?: string
        channel?: string
      }
      effect?: "error" | "delay" | "drop_reply" | "duplicate" | "disconnect" | "gap" | "pass" | "delay_ms"
      status?: number
      label?: string
      delay_ms?: number
      sequence?: {
        effect: "error" | "delay" | "drop_reply" | "duplicate" | "disconnect" | "gap" | "pass" | "delay_ms"
        status?: number
        label?: string
        delay_ms?: number
      }[]
      times?: number
      probability?: number
      seed?: number
    }
    reply: unknown[]
  }
  /** What clients did after each injected fault, newest first: sent the same request again, looked the record up, went on or fell silent; and whether money was moved twice */
  'GET /operator/v1/faults/report': {
    path: undefined
    query: {
      user_id?: number
      key?: string
      limit?: number
    }
    body: undefined
    reply: {
      injected: number
      moved_twice: number
      maybe_twice: number
      faults: {
        id: number
        time: number
        effect: string
        status: number | null
        label: string | null
        delay_ms: number | null
        method: string
        path: string
        user_id: number | null
        key: string | null
        ip: string
        outcome: string
        retries: number
        first_retry_ms: number | null
        lookups: number
        carried_out: number
        money: string
        advice: string
        then: {
          after_ms: number
          method: string
          path: string
          status: number
          what: string
        }[]
        more: number
      }[]
    }
  }
  /** The last requests with bodies and replies, cut at 4 KB and without secrets; after: those that follow an id */
  'GET /operator/v1/requests': {
    path: undefined
    query: {
      after?: number
      user_id?: number
      path?: string
      status?: string
      limit?: number
    }
    body: undefined
    reply: {
      last: number
      missed: number
      requests: {
        id: number
        time: number
        micros: number
        method: string
        path: string
        query: string
        ip: string
        user_id: number | null
        key: string | null
        operator: string | null
        status: number
        timestamp: string | null
        remain: number | null
        limit: number | null
        dropped: boolean
        ignored: string[]
        body: string
        body_length: number
        reply: string
        reply_length: number
      }[]
    }
  }
  /** Lists what waits for a second operator (live mode), or what became of it, newest first */
  'GET /operator/v1/proposals': {
    path: undefined
    query: {
      state?: "waiting" | "done" | "rejected" | "expired"
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      call: string
      command: string
      input: unknown
      role: string
      asked_by: string
      confirmations: {
        operator: string
        at: number
      }[]
      state: string
      reason: string
      create_time: number
      expires_at: number
      effective_at: number
    }[]
  }
  /** Agrees to a proposal of somebody else; with the second yes it is carried out */
  'POST /operator/v1/proposals/{id}/confirm': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      call: string
      command: string
      input: unknown
      role: string
      asked_by: string
      confirmations: {
        operator: string
        at: number
      }[]
      state: string
      reason: string
      create_time: number
      expires_at: number
      effective_at: number
      token_second_half?: string
    }
  }
  /** Says no to a proposal, or takes back one of one’s own */
  'POST /operator/v1/proposals/{id}/reject': {
    path: {
      id: number
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      id: number
      call: string
      command: string
      input: unknown
      role: string
      asked_by: string
      confirmations: {
        operator: string
        at: number
      }[]
      state: string
      reason: string
      create_time: number
      expires_at: number
      effective_at: number
    }
  }
  /** Adds up the whole ledger, says whether it balances, and compares custody with the chains */
  'GET /operator/v1/ledger/proof': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      balanced: boolean
      currencies: {
        currency: string
        total: string
        user_liabilities: string
        custody: string
        accounts: Record<string, string>
      }[]
      reserves_match: boolean
      reserves: {
        chain: string
        currency: string
        custody: string
        unbooked: string
        on_chain: string | null
        difference: string | null
        error: string
      }[]
      contracts_match: boolean
      contracts: {
        group: string
        settle: string
        contract: string
        long: string
        short: string
        sum: string
        cost: string
        clearing: string
        ok: boolean
      }[]
      sequence: number
      state_hash: string
    }
  }
  /** Commits to what every user is owed: Merkle-sum roots by currency under one root to publish */
  'GET /operator/v1/ledger/liabilities': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      root: string
      sequence: number
      currencies: {
        currency: string
        hash: string
        sum: string
        users: number
        owed_by_users: string
        user_liabilities: string
      }[]
    }
  }
  /** Proves that a user's balances are under the root; `kontor verify-proof` checks it anywhere */
  'GET /operator/v1/ledger/liabilities/{uid}': {
    path: {
      uid: number
    }
    query: {
      root?: string
    }
    body: undefined
    reply: {
      version: number
      user_id: number
      root: string
      currencies: {
        currency: string
        hash: string
        sum: string
        users: number
      }[]
      balances: {
        currency: string
        balance: string
        nonce: string
        path: {
          side: string
          hash: string
          sum: string
        }[]
      }[]
    }
  }
  /** Creates a main account, or with parent a sub-account */
  'POST /operator/v1/users': {
    path: undefined
    query: undefined
    body: {
      login_name: string
      email?: string
      password?: string
      remark?: string
      vip?: number
      parent?: number
      type?: 1 | 3
    }
    reply: {
      user_id: number
      login_name: string
      email: string
      remark: string
      parent: number
      state: number
      type: number
      vip: number
      create_time: number
      push_acceptance: string
      withdraw_day_limit: string | null
      futures_ceiling: string | null
      debit_fee: number
    }
  }
  /** Lists users by id, or finds the one with a login_name */
  'GET /operator/v1/users': {
    path: undefined
    query: {
      login_name?: string
      from?: number
      limit?: number
    }
    body: undefined
    reply: {
      user_id: number
      login_name: string
      email: string
      remark: string
      parent: number
      state: number
      type: number
      vip: number
      create_time: number
      push_acceptance: string
      withdraw_day_limit: string | null
      futures_ceiling: string | null
      debit_fee: number
    }[]
  }
  /** Shows a user */
  'GET /operator/v1/users/{uid}': {
    path: {
      uid: number
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      login_name: string
      email: string
      remark: string
      parent: number
      state: number
      type: number
      vip: number
      create_time: number
      push_acceptance: string
      withdraw_day_limit: string | null
      futures_ceiling: string | null
      debit_fee: number
    }
  }
  /** Changes tier, state (1 normal, 2 frozen) and settings of a user; a password in sandbox mode alone */
  'PATCH /operator/v1/users/{uid}': {
    path: {
      uid: number
    }
    query: undefined
    body: {
      vip?: number
      state?: 1 | 2
      push_acceptance?: "auto" | "manual"
      withdraw_day_limit?: string
      futures_ceiling?: string
      password?: string
      debit_fee?: 1 | 2 | 3
    }
    reply: {
      user_id: number
      login_name: string
      email: string
      remark: string
      parent: number
      state: number
      type: number
      vip: number
      create_time: number
      push_acceptance: string
      withdraw_day_limit: string | null
      futures_ceiling: string | null
      debit_fee: number
    }
  }
  /** Creates an API key of a main or sub-account; its secret is shown here and never again */
  'POST /operator/v1/users/{uid}/keys': {
    path: {
      uid: number
    }
    query: undefined
    body: {
      mode?: 1 | 2
      name?: string
      perms?: {
        name: string
        read_only?: boolean
      }[]
      ip_whitelist?: string[]
      replay_protection?: boolean
    }
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
      secret: string
    }
  }
  /** Lists a user's API keys */
  'GET /operator/v1/users/{uid}/keys': {
    path: {
      uid: number
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
    }[]
  }
  /** Disables a key (state 2 frozen, 3 locked), enables it again (1), sets its replay protection; acts at once */
  'PATCH /operator/v1/users/{uid}/keys/{key}': {
    path: {
      uid: number
      key: string
    }
    query: undefined
    body: {
      state?: 1 | 2 | 3
      replay_protection?: boolean
    }
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
    }
  }
  /** Credits a user's account out of operator equity */
  'POST /operator/v1/users/{uid}/credit': {
    path: {
      uid: number
    }
    query: undefined
    body: {
      account?: "spot" | "margin" | "futures" | "delivery" | "options"
      currency: string
      amount: string
      currency_pair?: string
      settle?: string
    }
    reply: {
      tx_id: number
    }
  }
  /** Every balance of an account, now or at a past second */
  'GET /operator/v1/users/{uid}/balances': {
    path: {
      uid: number
    }
    query: {
      at?: number
    }
    body: undefined
    reply: {
      user_id: number
      account: string
      currency: string
      available: string
      locked: string
      currency_pair: string
      settle: string
    }[]
  }
  /** Makes a link that signs the operator who asks in to the console, good once within an hour */
  'POST /operator/v1/console_links': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      token: string
      path: string
      expires_at: number
    }
  }
  /** Makes an invitation: whoever has it signs up with it, once within seven days */
  'POST /operator/v1/console_invitations': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      token: string
      expires_at: number
    }
  }
  /** Makes a link that signs a main account in, good once: for whoever lost password or second factor. In live mode each of the two operators is shown one half of it, the second factor goes, and withdrawals are closed for 24 hours */
  'POST /operator/v1/users/{uid}/console_link': {
    path: {
      uid: number
    }
    query: undefined
    body: undefined
    reply: {
      token: string
      path: string
      expires_at: number
    }
  }
  /** Opening and closing balances of an account's books within a time, and what moved them */
  'GET /operator/v1/users/{uid}/statement': {
    path: {
      uid: number
    }
    query: {
      from: number
      to?: number
    }
    body: undefined
    reply: {
      user_id: number
      from: number
      to: number
      accounts: {
        account: string
        currency: string
        opening: string
        movements: {
          kind: string
          count: number
          total: string
        }[]
        closing: string
      }[]
    }
  }
  /** What is known of a person: the account, its keys and addresses, and which records there are */
  'GET /operator/v1/users/{uid}/export': {
    path: {
      uid: number
    }
    query: undefined
    body: undefined
    reply: {
      user: {
        user_id: number
        login_name: string
        email: string
        remark: string
        parent: number
        state: number
        type: number
        vip: number
        create_time: number
        push_acceptance: string
        withdraw_day_limit: string | null
        futures_ceiling: string | null
        debit_fee: number
      }
      keys: {
        user_id: number
        key: string
        mode: number
        name: string
        perms: {
          name: string
          read_only: boolean
        }[]
        ip_whitelist: string[]
        state: number
        created_at: number
        updated_at: number
        update_at: number
        last_access: number
        replay_protection: boolean
      }[]
      saved_addresses: {
        currency: string
        chain: string
        address: string
        name: string
        tag: string
        verified: string
        user_id: number
      }[]
      deposit_addresses: {
        chain: string
        address: string
        tag: string
      }[]
      balances: {
        account: string
        currency: string
        amount: string
      }[]
      sections: string[]
    }
  }
  /** A page of one kind of an account's records, oldest first, as the platform keeps them */
  'GET /operator/v1/users/{uid}/export/{section}': {
    path: {
      uid: number
      section: "deposits" | "withdrawals" | "pushes_sent" | "pushes_received" | "sub_transfers" | "small_balances" | "finished_orders" | "fills" | "price_orders" | "pov_orders" | "loans" | "interest" | "liquidations" | "contract_orders" | "contract_fills" | "contract_book" | "contract_price_orders" | "trail_orders" | "chase_orders" | "position_closes" | "contract_liquidations" | "auto_deleverages" | "settlements" | "ledger"
    }
    query: {
      after?: string
      limit?: number
    }
    body: undefined
    reply: {
      rows: Record<string, unknown>[]
      next: string | null
    }
  }
  /** The platform's own money, and what hot wallets hold beside what waits to be sent from them */
  'GET /operator/v1/treasury': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currencies: {
        currency: string
        fees: string
        fees_payable: string
        interest: string
        interest_payable: string
        network_fees: string
        equity: string
        insurance: string
        insurance_margin: string
        lending_pool: string
      }[]
      hot_wallets: {
        chain: string
        currency: string
        held: string | null
        waiting: string
        short: string | null
        error: string
      }[]
    }
  }
  /** Pays earned fees or interest to a main account, which withdraws them under everybody's rules */
  'POST /operator/v1/treasury/payouts': {
    path: undefined
    query: undefined
    body: {
      from: "fees" | "interest"
      currency: string
      amount: string
      user_id: number
      reason: string
    }
    reply: {
      tx_id: number
    }
  }
  /** Lists withdrawals of all accounts, newest first */
  'GET /operator/v1/withdrawals': {
    path: undefined
    query: {
      status?: "REQUEST" | "REVIEW" | "MANUAL" | "VERIFY" | "FVERIFY" | "DMOVE" | "LOCKED" | "PROCES" | "PEND" | "EXTPEND" | "DONE" | "FAIL" | "CANCELPEND" | "CANCEL" | "REJECT" | "INVALID"
      user_id?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }[]
  }
  /** Approves the present hold; members of the statement that are given must match the record */
  'POST /operator/v1/withdrawals/{id}/approve': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      status?: string
      amount?: string
      currency?: string
      chain?: string
      address?: string
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }
  }
  /** Rejects a held withdrawal (REJECT) or ends a failed one (CANCEL); the money goes back */
  'POST /operator/v1/withdrawals/{id}/reject': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      status?: string
      amount?: string
      currency?: string
      chain?: string
      address?: string
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }
  }
  /** Marks a withdrawal on its way as FAIL, after the chain was made to forget it */
  'POST /operator/v1/withdrawals/{id}/fail': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      status?: string
      amount?: string
      currency?: string
      chain?: string
      address?: string
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }
  }
  /** Sends a failed withdrawal again, as a new transaction */
  'POST /operator/v1/withdrawals/{id}/retry': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      status?: string
      amount?: string
      currency?: string
      chain?: string
      address?: string
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }
  }
  /** Puts a withdrawal that was not sent yet into REVIEW, MANUAL, VERIFY, FVERIFY, DMOVE, LOCKED or INVALID */
  'POST /operator/v1/withdrawals/{id}/divert': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      status?: string
      amount?: string
      currency?: string
      chain?: string
      address?: string
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }
  }
  /** Asks for a withdrawal on a user's behalf; whoever asks can't approve it */
  'POST /operator/v1/users/{uid}/withdrawals': {
    path: {
      uid: number
    }
    query: undefined
    body: {
      currency: string
      chain?: string
      amount: string
      address: string
      memo?: string
      withdraw_order_id?: string
      asset_class?: "SPOT" | "PILOT"
    }
    reply: {
      id: string
      txid: string
      withdraw_order_id: string
      timestamp: string
      amount: string
      fee: string
      currency: string
      address: string
      memo: string
      chain: string
      status: string
      block_number: string
      type: string
      fail_reason: string
      timestamp2: string
      user_id: number
      asset_class: string
      holds: {
        status: string
        reason: string
      }[]
      approvals: {
        operator: string
        at: number
      }[]
      approvals_needed: number
      requested_by: string
      attempt: number
    }
  }
  /** Lists deposits of all accounts, newest first; user_id 0 is nobody yet */
  'GET /operator/v1/deposits': {
    path: undefined
    query: {
      status?: "PEND" | "TRACK" | "DEP_CREDITED" | "DONE" | "REVIEW" | "BLOCKED" | "MANUAL" | "INVALID"
      user_id?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
      user_id: number
      block_number: string
      reason: string
    }[]
  }
  /** Holds a deposit that was not credited yet: REVIEW */
  'POST /operator/v1/deposits/{id}/hold': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      user_id?: number
    }
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
      user_id: number
      block_number: string
      reason: string
    }
  }
  /** Lets a held deposit go on; user_id says whose one without a memo is */
  'POST /operator/v1/deposits/{id}/release': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      user_id?: number
    }
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
      user_id: number
      block_number: string
      reason: string
    }
  }
  /** Blocks a deposit: its coins stay with the platform */
  'POST /operator/v1/deposits/{id}/block': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
      user_id?: number
    }
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
      user_id: number
      block_number: string
      reason: string
    }
  }
  /** Sends the coins of a blocked deposit back, less the withdrawal fee, as a withdrawal of user 0 */
  'POST /operator/v1/deposits/{id}/refund': {
    path: {
      id: string
    }
    query: undefined
    body: {
      address: string
      memo?: string
      reason?: string
    }
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
      user_id: number
      block_number: string
      reason: string
    }
  }
  /** Turns the refund of a blocked deposit down: refund_status REJECTED */
  'POST /operator/v1/deposits/{id}/reject_refund': {
    path: {
      id: string
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      id: string
      txid: string
      timestamp: string
      amount: string
      currency: string
      address: string
      memo: string
      status: string
      refund_status?: string
      chain: string
      user_id: number
      block_number: string
      reason: string
    }
  }
  /** Lists transfers by user id, newest first */
  'GET /operator/v1/push': {
    path: undefined
    query: {
      user_id?: number
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
      user_id: number
    }[]
  }
  /** Accepts a waiting transfer in the receiver's name */
  'POST /operator/v1/push/{id}/accept': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
      user_id: number
    }
  }
  /** Refuses a waiting transfer in the receiver's name; the sender has the money back */
  'POST /operator/v1/push/{id}/refuse': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
      user_id: number
    }
  }
  /** Cancels a waiting transfer in the sender's name */
  'POST /operator/v1/push/{id}/cancel': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
      user_id: number
    }
  }
  /** Adds an address to a user's book, or changes the one that is there */
  'POST /operator/v1/users/{uid}/saved_addresses': {
    path: {
      uid: number
    }
    query: undefined
    body: {
      currency: string
      chain?: string
      address: string
      name?: string
      tag?: string
      verified?: boolean
      verified_at?: number
    }
    reply: {
      currency: string
      chain: string
      address: string
      name: string
      tag: string
      verified: string
      user_id: number
    }
  }
  /** Lists a user's saved addresses */
  'GET /operator/v1/users/{uid}/saved_addresses': {
    path: {
      uid: number
    }
    query: undefined
    body: undefined
    reply: {
      currency: string
      chain: string
      address: string
      name: string
      tag: string
      verified: string
      user_id: number
    }[]
  }
  /** Lists the chains with their settings, height and hot wallet */
  'GET /operator/v1/chains': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      chain: string
      name_en: string
      name_cn: string
      kind: string
      address_format: string
      tagged: boolean
      native: string
      network_fee: string
      min_confirms: number
      unlock_confirms: number
      auto_mine_seconds: number
      send_delay_seconds: number
      paused: boolean
      sender_stops_at: string | null
      height: number
      hot_wallet: Record<string, string>
      hot_wallet_error: string
      displaced: {
        id: string
        txid: string
        dead: boolean
      }[]
    }[]
  }
  /** Shows one chain */
  'GET /operator/v1/chains/{chain}': {
    path: {
      chain: string
    }
    query: undefined
    body: undefined
    reply: {
      chain: string
      name_en: string
      name_cn: string
      kind: string
      address_format: string
      tagged: boolean
      native: string
      network_fee: string
      min_confirms: number
      unlock_confirms: number
      auto_mine_seconds: number
      send_delay_seconds: number
      paused: boolean
      sender_stops_at: string | null
      height: number
      hot_wallet: Record<string, string>
      hot_wallet_error: string
      displaced: {
        id: string
        txid: string
        dead: boolean
      }[]
    }
  }
  /** Changes the settings of a chain; they outlive restarts and new configuration files */
  'PATCH /operator/v1/chains/{chain}': {
    path: {
      chain: string
    }
    query: undefined
    body: {
      paused?: boolean
      auto_mine_seconds?: number
      min_confirms?: number
      unlock_confirms?: number
      send_delay_seconds?: number
      sender_stops_at?: "REQUEST" | "PROCES" | "PEND" | "never"
    }
    reply: {
      chain: string
      name_en: string
      name_cn: string
      kind: string
      address_format: string
      tagged: boolean
      native: string
      network_fee: string
      min_confirms: number
      unlock_confirms: number
      auto_mine_seconds: number
      send_delay_seconds: number
      paused: boolean
      sender_stops_at: string | null
      height: number
      hot_wallet: Record<string, string>
      hot_wallet_error: string
      displaced: {
        id: string
        txid: string
        dead: boolean
      }[]
    }
  }
  /** A payment to a user (or one of our addresses) arrives on a simulated chain */
  'POST /operator/v1/chains/{chain}/deposits': {
    path: {
      chain: string
    }
    query: undefined
    body: {
      user_id?: number
      address?: string
      currency: string
      amount: string
      memo?: string
    }
    reply: {
      txid: string
      address: string
      memo: string
    }
  }
  /** Mines blocks by hand; withdrawals that wait for the sender are sent first */
  'POST /operator/v1/chains/{chain}/mine': {
    path: {
      chain: string
    }
    query: undefined
    body: {
      blocks?: number
    }
    reply: {
      height: number
    }
  }
  /** Replaces the top blocks; transactions named in drop vanish, the others are in the new blocks too */
  'POST /operator/v1/chains/{chain}/reorg': {
    path: {
      chain: string
    }
    query: undefined
    body: {
      depth: number
      drop?: string[]
    }
    reply: {
      height: number
    }
  }
  /** Puts coins of the operator into a simulated chain's hot wallet */
  'POST /operator/v1/chains/{chain}/fund': {
    path: {
      chain: string
    }
    query: undefined
    body: {
      currency: string
      amount: string
    }
    reply: {
      currency: string
      amount: string
    }
  }
  /** Books the operator's own coins that were put into the wallets of a real chain, or (below zero) taken out */
  'POST /operator/v1/chains/{chain}/book': {
    path: {
      chain: string
    }
    query: undefined
    body: {
      currency: string
      amount: string
      reason: string
    }
    reply: {
      chain: string
      currency: string
      custody: string
    }
  }
  /** Lists what was gathered from deposit addresses in the hot wallet, newest first */
  'GET /operator/v1/chains/{chain}/sweeps': {
    path: {
      chain: string
    }
    query: {
      limit?: number
      offset?: number
    }
    body: undefined
    reply: {
      id: number
      kind: string
      chain: string
      currency: string
      amount: string
      address: string
      user_id: number
      status: string
      txid: string
      block_number: string
      network_fee: string
      timestamp: string
    }[]
  }
  /** Looks at every deposit address of a real chain now, and sweeps what is above its threshold */
  'POST /operator/v1/chains/{chain}/sweep': {
    path: {
      chain: string
    }
    query: undefined
    body: undefined
    reply: {
      chain: string
      addresses: number
    }
  }
  /** Lists the transactions of a simulated chain that are not final yet, newest first */
  'GET /operator/v1/chains/{chain}/transactions': {
    path: {
      chain: string
    }
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      txid: string
      kind: string
      address: string
      memo: string
      currency: string
      amount: string
      network_fee: string
      state: string
      ok: boolean
      block_number: string
    }[]
  }
  /** Lets a transaction be stuck, lost (the sender sends it again), failed, or free again (pending) */
  'PATCH /operator/v1/chains/{chain}/transactions/{txid}': {
    path: {
      chain: string
      txid: string
    }
    query: undefined
    body: {
      state: "pending" | "stuck" | "lost" | "failed"
    }
    reply: {
      txid: string
      kind: string
      address: string
      memo: string
      currency: string
      amount: string
      network_fee: string
      state: string
      ok: boolean
      block_number: string
    }
  }
  /** Lists the currencies with fees, limits and chains */
  'GET /operator/v1/currencies': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency: string
      name: string
      name_cn: string
      precision: number
      asset_class: string
      low_cap: boolean
      status: string
      deposit_enabled: boolean
      withdraw_enabled: boolean
      withdraw_day_limit: string
      withdraw_eachtime_limit: string
      approval_amount: string
      approvals: number
      index_price: string
      chains: {
        chain: string
        contract_address: string
        decimal: number
        deposit_enabled: boolean
        withdraw_enabled: boolean
        min_deposit_amount: string
        withdraw_amount_mini: string
        withdraw_fix: string
        withdraw_percent: string
        hot_wallet: string
        sweep_threshold: string
      }[]
    }[]
  }
  /** Shows one currency with fees, limits and chains */
  'GET /operator/v1/currencies/{currency}': {
    path: {
      currency: string
    }
    query: undefined
    body: undefined
    reply: {
      currency: string
      name: string
      name_cn: string
      precision: number
      asset_class: string
      low_cap: boolean
      status: string
      deposit_enabled: boolean
      withdraw_enabled: boolean
      withdraw_day_limit: string
      withdraw_eachtime_limit: string
      approval_amount: string
      approvals: number
      index_price: string
      chains: {
        chain: string
        contract_address: string
        decimal: number
        deposit_enabled: boolean
        withdraw_enabled: boolean
        min_deposit_amount: string
        withdraw_amount_mini: string
        withdraw_fix: string
        withdraw_percent: string
        hot_wallet: string
        sweep_threshold: string
      }[]
    }
  }
  /** Changes switches, fees, limits and approvals of a currency, for all its chains or below chains.NAME for one */
  'PATCH /operator/v1/currencies/{currency}': {
    path: {
      currency: string
    }
    query: undefined
    body: Record<string, unknown>
    reply: {
      currency: string
      name: string
      name_cn: string
      precision: number
      asset_class: string
      low_cap: boolean
      status: string
      deposit_enabled: boolean
      withdraw_enabled: boolean
      withdraw_day_limit: string
      withdraw_eachtime_limit: string
      approval_amount: string
      approvals: number
      index_price: string
      chains: {
        chain: string
        contract_address: string
        decimal: number
        deposit_enabled: boolean
        withdraw_enabled: boolean
        min_deposit_amount: string
        withdraw_amount_mini: string
        withdraw_fix: string
        withdraw_percent: string
        hot_wallet: string
        sweep_threshold: string
      }[]
    }
  }
  /** Index prices in USDT and where each comes from; price "0" and source "none": nothing that is trusted says one */
  'GET /operator/v1/prices': {
    path: undefined
    query: undefined
    body: undefined
    reply: Record<string, {
      price: string
      source: string
      last: string
      waiting: boolean
      expires: number
    }>
  }
  /** Fixes index prices in USDT until expires (Unix seconds; live mode needs it), until they are changed, or released with null; liquidations that follow have begun when it answers */
  'PUT /operator/v1/prices': {
    path: undefined
    query: undefined
    body: Record<string, unknown>
    reply: Record<string, string>
  }
  /** The withdrawal policy in force */
  'GET /operator/v1/policy': {
    path: undefined
    query: undefined
    body: undefined
    reply: unknown
  }
  /** Changes rules of the withdrawal policy; rules that are left out stay as they are */
  'PUT /operator/v1/policy': {
    path: undefined
    query: undefined
    body: Record<string, unknown>
    reply: unknown
  }
  /** Judges recorded withdrawals by a draft policy, and lists those that would be treated differently */
  'POST /operator/v1/policy/dry_run': {
    path: undefined
    query: undefined
    body: {
      policy?: Record<string, unknown>
      limit?: number
    }
    reply: {
      judged: number
      changed: {
        id: string
        user_id: number
        currency: string
        amount: string
        timestamp: string
        now: {
          status: string
          reason: string
        }[]
        draft: {
          status: string
          reason: string
        }[]
      }[]
    }
  }
  /** Halts all markets at once */
  'POST /operator/v1/markets/halt': {
    path: undefined
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      halted: boolean
    }
  }
  /** Ends the halt of all markets */
  'POST /operator/v1/markets/resume': {
    path: undefined
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      halted: boolean
    }
  }
  /** Halts a market: no new orders, no matching; those that wait can be cancelled */
  'POST /operator/v1/markets/{currency_pair}/halt': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      currency_pair: string
      status: string
      trade_status: string
      halted: boolean
      in_the_way: string[]
    }
  }
  /** Lets a market that is halted or being delisted trade again */
  'POST /operator/v1/markets/{currency_pair}/resume': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      currency_pair: string
      status: string
      trade_status: string
      halted: boolean
      in_the_way: string[]
    }
  }
  /** Delists a market: halted, all orders of all accounts cancelled, margin accounts without a loan emptied into spot */
  'POST /operator/v1/markets/{currency_pair}/delist': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      currency_pair: string
      status: string
      trade_status: string
      halted: boolean
      in_the_way: string[]
    }
  }
  /** Tells a market's step, and what is in the way of its end */
  'GET /operator/v1/markets/{currency_pair}/delisting': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: undefined
    reply: {
      currency_pair: string
      status: string
      trade_status: string
      halted: boolean
      in_the_way: string[]
    }
  }
  /** Ends a delisted market when nothing is left in it; its row may then leave the file */
  'POST /operator/v1/markets/{currency_pair}/remove': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: undefined
    reply: {
      currency_pair: string
      status: string
      trade_status: string
      halted: boolean
      in_the_way: string[]
    }
  }
  /** A currency whose markets are delisted can only be withdrawn from now on */
  'POST /operator/v1/currencies/{currency}/delist': {
    path: {
      currency: string
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      currency: string
      status: string
      in_the_way: string[]
    }
  }
  /** Lists a currency again */
  'POST /operator/v1/currencies/{currency}/relist': {
    path: {
      currency: string
    }
    query: undefined
    body: {
      reason?: string
    }
    reply: {
      currency: string
      status: string
      in_the_way: string[]
    }
  }
  /** Tells a currency's step, and what is in the way of its end */
  'GET /operator/v1/currencies/{currency}/delisting': {
    path: {
      currency: string
    }
    query: undefined
    body: undefined
    reply: {
      currency: string
      status: string
      in_the_way: string[]
    }
  }
  /** Ends a currency that nobody holds any more: the platform's own accounts in it are closed, and its row may leave the file */
  'POST /operator/v1/currencies/{currency}/remove': {
    path: {
      currency: string
    }
    query: undefined
    body: undefined
    reply: {
      currency: string
      status: string
      in_the_way: string[]
    }
  }
  /** Lists the markets with all their rules */
  'GET /operator/v1/markets': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      id: string
      base: string
      quote: string
      precision: number
      amount_precision: number
      min_base_amount: string | null
      min_quote_amount: string | null
      max_base_amount: string | null
      max_quote_amount: string | null
      fee: string
      trade_status: string
      status?: string
      up_rate: string
      down_rate: string
      slippage: string
      liquidation_bound: string
      market_order_max_stock: string | null
      market_order_max_money: string | null
      buy_start: number
      sell_start: number
      delisting_time: number
      reference_price: string
    }[]
  }
  /** Shows the rules of a market */
  'GET /operator/v1/markets/{currency_pair}': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: undefined
    reply: {
      id: string
      base: string
      quote: string
      precision: number
      amount_precision: number
      min_base_amount: string | null
      min_quote_amount: string | null
      max_base_amount: string | null
      max_quote_amount: string | null
      fee: string
      trade_status: string
      status?: string
      up_rate: string
      down_rate: string
      slippage: string
      liquidation_bound: string
      market_order_max_stock: string | null
      market_order_max_money: string | null
      buy_start: number
      sell_start: number
      delisting_time: number
      reference_price: string
    }
  }
  /** Changes rules of a market: trade_status, bounds, fee, price protection; at once */
  'PATCH /operator/v1/markets/{currency_pair}': {
    path: {
      currency_pair: string
    }
    query: undefined
    body: {
      min_base_amount?: string
      min_quote_amount?: string
      max_base_amount?: string
      max_quote_amount?: string
      fee?: string
      trade_status?: "untradable" | "buyable" | "sellable" | "tradable"
      up_rate?: string
      down_rate?: string
      slippage?: string
      liquidation_bound?: string
      market_order_max_stock?: string
      market_order_max_money?: string
      buy_start?: number
      sell_start?: number
      delisting_time?: number
    }
    reply: {
      id: string
      base: string
      quote: string
      precision: number
      amount_precision: number
      min_base_amount: string | null
      min_quote_amount: string | null
      max_base_amount: string | null
      max_quote_amount: string | null
      fee: string
      trade_status: string
      status?: string
      up_rate: string
      down_rate: string
      slippage: string
      liquidation_bound: string
      market_order_max_stock: string | null
      market_order_max_money: string | null
      buy_start: number
      sell_start: number
      delisting_time: number
      reference_price: string
    }
  }
  /** Lists the contracts, perpetual and dated, with all their rules */
  'GET /operator/v1/contracts': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      group: string
      settle: string
      name: string
      underlying: string
      type: string
      quanto_multiplier: string
      order_price_round: string
      mark_price_round: string
      order_size_min: number
      order_size_max: number
      market_order_size_max: string
      leverage_min: string
      leverage_max: string
      cross_leverage_default: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_deviate: string
      market_order_slip_ratio: string
      funding_interval: number
      interest_rate: string
      funding_rate_limit: string
      funding_impact_value: string
      orders_limit: number
      risk_limit_table: string
      tiers: {
        risk_limit: string
        maintenance_rate: string
        leverage_max: string
      }[]
      mark_bound: string
      mark_bound_year: string
      status: string
      create_time: number
      launch_time: number
      delisting_time: number
      delisted_time: number
      config_change_time: number
      cycle: string
      expire_time: number
      settle_fee_rate: string
      basis_impact_value: string
    }[]
  }
  /** Shows the rules of a contract, also of one that has ended */
  'GET /operator/v1/contracts/{group}/{settle}/{contract}': {
    path: {
      group: "futures" | "delivery"
      settle: string
      contract: string
    }
    query: undefined
    body: undefined
    reply: {
      group: string
      settle: string
      name: string
      underlying: string
      type: string
      quanto_multiplier: string
      order_price_round: string
      mark_price_round: string
      order_size_min: number
      order_size_max: number
      market_order_size_max: string
      leverage_min: string
      leverage_max: string
      cross_leverage_default: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_deviate: string
      market_order_slip_ratio: string
      funding_interval: number
      interest_rate: string
      funding_rate_limit: string
      funding_impact_value: string
      orders_limit: number
      risk_limit_table: string
      tiers: {
        risk_limit: string
        maintenance_rate: string
        leverage_max: string
      }[]
      mark_bound: string
      mark_bound_year: string
      status: string
      create_time: number
      launch_time: number
      delisting_time: number
      delisted_time: number
      config_change_time: number
      cycle: string
      expire_time: number
      settle_fee_rate: string
      basis_impact_value: string
    }
  }
  /** Changes rules of a contract: bounds, leverage, tiers, status, when it is delisted; at once. New tiers liquidate nobody in this call, the next check may */
  'PATCH /operator/v1/contracts/{group}/{settle}/{contract}': {
    path: {
      group: "futures" | "delivery"
      settle: string
      contract: string
    }
    query: undefined
    body: {
      order_price_deviate?: string
      order_size_max?: number
      market_order_slip_ratio?: string
      orders_limit?: number
      funding_rate_limit?: string
      leverage_max?: string
      tiers?: {
        risk_limit: string
        maintenance_rate: string
        leverage_max: string
        tier?: number
        initial_rate?: string
        deduction?: string
        contract?: string
      }[]
      status?: "trading" | "circuit_breaker"
      delisting_time?: number
      delisted_time?: number
    }
    reply: {
      group: string
      settle: string
      name: string
      underlying: string
      type: string
      quanto_multiplier: string
      order_price_round: string
      mark_price_round: string
      order_size_min: number
      order_size_max: number
      market_order_size_max: string
      leverage_min: string
      leverage_max: string
      cross_leverage_default: string
      maker_fee_rate: string
      taker_fee_rate: string
      order_price_deviate: string
      market_order_slip_ratio: string
      funding_interval: number
      interest_rate: string
      funding_rate_limit: string
      funding_impact_value: string
      orders_limit: number
      risk_limit_table: string
      tiers: {
        risk_limit: string
        maintenance_rate: string
        leverage_max: string
      }[]
      mark_bound: string
      mark_bound_year: string
      status: string
      create_time: number
      launch_time: number
      delisting_time: number
      delisted_time: number
      config_change_time: number
      cycle: string
      expire_time: number
      settle_fee_rate: string
      basis_impact_value: string
    }
  }
  /** Shows the insurance funds of contracts: what they hold, and the positions that they have taken over */
  'GET /operator/v1/insurance': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      settle: string
      balance: string
      positions: {
        group: string
        contract: string
        size: string
        cost: string
        entry_price: string
        mark_price: string
        unrealised_pnl: string
      }[]
    }[]
  }
  /** Puts operator equity into the insurance fund of contracts of a settle currency */
  'POST /operator/v1/insurance/{settle}/fund': {
    path: {
      settle: string
    }
    query: undefined
    body: {
      amount: string
    }
    reply: {
      balance: string
      positions: {
        group: string
        contract: string
        size: string
        cost: string
        entry_price: string
        mark_price: string
        unrealised_pnl: string
      }[]
    }
  }
  /** Adds up all positions of each contract: as much is long as is short, and clearing is what they cost */
  'GET /operator/v1/futures/proof': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      group: string
      settle: string
      contract: string
      long: string
      short: string
      sum: string
      cost: string
      clearing: string
      ok: boolean
    }[]
  }
  /** Lists open orders: an account's, a market's, of one side, or all; agents=false leaves out the market agents' */
  'GET /operator/v1/orders': {
    path: undefined
    query: {
      user_id?: number
      currency_pair?: string
      side?: "buy" | "sell"
      limit?: number
      agents?: boolean
    }
    body: undefined
    reply: {
      user_id: number
      login_name: string
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    }[]
  }
  /** Cancels open orders: an account's, a market's, an account's in one market; of one side or both */
  'DELETE /operator/v1/orders': {
    path: undefined
    query: {
      user_id?: number
      currency_pair?: string
      side?: "buy" | "sell"
    }
    body: undefined
    reply: {
      cancelled: number
    }
  }
  /** Cancels one open order, whoever's it is */
  'DELETE /operator/v1/orders/{order_id}': {
    path: {
      order_id: number
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      login_name: string
      id: string
      text: string
      amend_text: string
      create_time: string
      update_time: string
      create_time_ms: number
      update_time_ms: number
      status: string
      currency_pair: string
      trade_quote: string
      type: string
      account: string
      side: string
      amount: string
      price: string
      time_in_force: string
      iceberg: string
      left: string
      filled_amount: string
      fill_price: string
      filled_total: string
      avg_deal_price: string
      stp_id: number
      stp_act: string
      finish_as: string
      auto_borrow: boolean
      auto_repay: boolean
      biz_info: string
      slippage?: string
      stop_profit?: {
        trigger_price: string
        order_price: string
      }
      stop_loss?: {
        trigger_price: string
        order_price: string
      }
      fee: string
      fee_currency: string
      point_fee: string
      gt_fee: string
      gt_maker_fee: string
      gt_taker_fee: string
      gt_discount: boolean
      rebated_fee: string
      rebated_fee_currency: string
    }
  }
  /** Shows each figure of an account's margin with its inputs, prices, tiers and formula */
  'GET /operator/v1/users/{uid}/risk/explain': {
    path: {
      uid: number
    }
    query: {
      scope?: string
    }
    body: undefined
    reply: {
      user_id: number
      mode: string
      scope: string
      locked: boolean
      level: string
      below_maintenance: boolean
      distance: string
      figures: Record<string, {
        value: string
        formula: string
      }>
      currencies: {
        currency: string
        price: string
        price_source: string
        available: string
        freeze: string
        borrowed: string
        interest: string
        locked_deposits: string
        collateral: boolean
        equity: {
          value: string
          formula: string
        }
        counted_value: {
          value: string
          formula: string
        }
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        liability: string
        discount_tiers: {
          up_to: string
          discount: string
        }[]
        margin_tiers: {
          up_to: string
          initial_leverage: string
          maintenance_rate: string
        }[]
      }[]
      orders: {
        gives: string
        given: string
        gets: string
        got: string
      }[]
      contracts: {
        contract: string
        size: string
        margin_mode: string
        mark_price: string
        index_price: string
        unrealised_pnl: {
          value: string
          formula: string
        }
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        liq_price: string
        bankruptcy_price: string
      }[]
      risk_units: {
        currency: string
        price: string
        delta: string
        spot_in_use: string
        buys: string
        sells: string
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        order_margin: {
          value: string
          formula: string
        }
      }[]
    }
  }
  /** Lists an account's warnings, restrictions and steps of liquidations, newest first */
  'GET /operator/v1/users/{uid}/liquidations': {
    path: {
      uid: number
    }
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      id: number
      liquidation: number
      user_id: number
      scope: string
      step: string
      currency: string
      amount: string
      detail: Record<string, unknown>
      at: number
    }[]
  }
  /** Lists the lending pools and insurance funds */
  'GET /operator/v1/lending': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency: string
      pool: string
      lent: string
      accrued: string
      utilisation: string
      hourly_rate: string
      insurance: string
      insurance_margin: string
    }[]
  }
  /** Puts operator equity into a lending pool or an insurance fund */
  'POST /operator/v1/lending/fund': {
    path: undefined
    query: undefined
    body: {
      currency: string
      fund: "pool" | "insurance" | "insurance:margin"
      amount: string
    }
    reply: {
      proposal: {
        id: number
        call: string
        command: string
        input: unknown
        role: string
        asked_by: string
        confirmations: {
          operator: string
          at: number
        }[]
        state: string
        reason: string
        create_time: number
        expires_at: number
        effective_at: number
      }
    }
  }
  /** Shows each figure of an account of futures with its inputs, prices, tier and formula */
  'GET /operator/v1/users/{uid}/futures/{settle}/explain': {
    path: {
      uid: number
      settle: "usdt" | "btc"
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      group: string
      settle: string
      currency: string
      unified: boolean
      in_dual_mode: boolean
      in_liquidation: boolean
      inputs: {
        cash: string
        debt: string
      }
      figures: Record<string, {
        value: string
        formula: string
      }>
      positions: {
        contract: string
        type: string
        mode: string
        margin_mode: string
        size: string
        cost: string
        quanto_multiplier: string
        leverage: string
        taker_fee_rate: string
        mark_price: string
        index_price: string
        tier: {
          tier: number
          risk_limit: string
          maintenance_rate: string
          leverage_max: string
          deduction: string
        }
        entry_price: {
          value: string
          formula: string
        }
        value: {
          value: string
          formula: string
        }
        unrealised_pnl: {
          value: string
          formula: string
        }
        margin: {
          value: string
          formula: string
        }
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        equity: {
          value: string
          formula: string
        }
        liq_price: {
          value: string
          formula: string
        }
        bankruptcy_price: {
          value: string
          formula: string
        }
      }[]
      orders: {
        contract: string
        open: number
        mark_price: string
        account_taker_rate: string
        order_margin: {
          value: string
          formula: string
        }
      }[]
    }
  }
  /** Shows each figure of an account of delivery with its inputs, prices, tier and formula */
  'GET /operator/v1/users/{uid}/delivery/{settle}/explain': {
    path: {
      uid: number
      settle: "usdt" | "btc"
    }
    query: undefined
    body: undefined
    reply: {
      user_id: number
      group: string
      settle: string
      currency: string
      unified: boolean
      in_dual_mode: boolean
      in_liquidation: boolean
      inputs: {
        cash: string
        debt: string
      }
      figures: Record<string, {
        value: string
        formula: string
      }>
      positions: {
        contract: string
        type: string
        mode: string
        margin_mode: string
        size: string
        cost: string
        quanto_multiplier: string
        leverage: string
        taker_fee_rate: string
        mark_price: string
        index_price: string
        tier: {
          tier: number
          risk_limit: string
          maintenance_rate: string
          leverage_max: string
          deduction: string
        }
        entry_price: {
          value: string
          formula: string
        }
        value: {
          value: string
          formula: string
        }
        unrealised_pnl: {
          value: string
          formula: string
        }
        margin: {
          value: string
          formula: string
        }
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        equity: {
          value: string
          formula: string
        }
        liq_price: {
          value: string
          formula: string
        }
        bankruptcy_price: {
          value: string
          formula: string
        }
      }[]
      orders: {
        contract: string
        open: number
        mark_price: string
        account_taker_rate: string
        order_margin: {
          value: string
          formula: string
        }
      }[]
    }
  }
  /** What the market agents think of each market */
  'GET /operator/v1/agents': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      currency_pair: string
      fair: number
      scenario: string
      until: number
    }[]
  }
  /** Makes a crash, a gap, a thin book or a lost peg in a market; a thin book or a basis in a contract */
  'POST /operator/v1/agents/scenario': {
    path: undefined
    query: undefined
    body: {
      name: "crash" | "gap" | "thin_book" | "de_peg" | "basis"
      currency_pair?: string
      settle?: string
      contract?: string
      change?: number
      seconds?: number
    }
    reply: {
      currency_pair: string
      fair: number
      scenario: string
      until: number
    }
  }
  /** Plays a list of trades again: csv lines of time (seconds),price,amount,side */
  'POST /operator/v1/agents/replay': {
    path: undefined
    query: undefined
    body: {
      currency_pair: string
      csv: string
      speed?: number
    }
    reply: {
      trades: number
      until: number
    }
  }
  /** Lets a market live through candles from elsewhere, each as four trades at their time; longer files in portions, with the shift that the first one answered */
  'POST /operator/v1/agents/candles': {
    path: undefined
    query: undefined
    body: {
      currency_pair: string
      interval: number
      shift?: number
      candles: unknown[][]
    }
    reply: {
      candles: number
      from: number
      until: number
      shift: number
    }
  }
  /** Lists due work that failed and was put aside, with its error */
  'GET /operator/v1/due': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      id: number
      command: string
      input: unknown
      due_at: number
      failed_at: number
      error: string
    }[]
  }
  /** What falls due next: interest, unlocks, expiries, looks of the agents; soonest first */
  'GET /operator/v1/due/coming': {
    path: undefined
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      id: number
      command: string
      input: unknown
      due_at: number
    }[]
  }
  /** Runs an item that was put aside again, at the next tick */
  'POST /operator/v1/due/{id}/retry': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      command: string
      input: unknown
      due_at: number
      failed_at: number
      error: string
    }
  }
  /** Gives up an item that was put aside */
  'POST /operator/v1/due/{id}/drop': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      command: string
      input: unknown
      due_at: number
      failed_at: number
      error: string
    }
  }
  /** Lists the WebSocket connections */
  'GET /operator/v1/sockets': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      conn_id: string
      ip: string
      product: string
      since: number
      user_ids: number[]
      subscriptions: number
      queue_bytes: number
      frames_in: number
      frames_out: number
    }[]
  }
  /** Closes a WebSocket connection (1008) */
  'DELETE /operator/v1/sockets/{conn_id}': {
    path: {
      conn_id: string
    }
    query: undefined
    body: undefined
    reply: undefined
  }
  /** Signs in by a one-time link: its token is what follows the # of /enter#TOKEN */
  'POST /console/v1/enter': {
    path: undefined
    query: undefined
    body: {
      token: string
    }
    reply: {
      mode: string
      account: {
        user_id: number
        name: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
        accounts: {
          user_id: number
          name: string
          login_name: string
          kind: string
          state: number
        }[]
      } | null
      operator: {
        name: string
        role: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
      } | null
    }
  }
  /** Ends the sessions of this browser, or the one of a kind */
  'POST /console/v1/sign-out': {
    path: undefined
    query: undefined
    body: {
      kind?: "account" | "operator"
    }
    reply: undefined
  }
  /** Tells who is signed in in this browser, with the token that changes must carry as X-Kontor-CSRF */
  'GET /console/v1/session': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      mode: string
      account: {
        user_id: number
        name: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
        accounts: {
          user_id: number
          name: string
          login_name: string
          kind: string
          state: number
        }[]
      } | null
      operator: {
        name: string
        role: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
      } | null
    }
  }
  /** What the console should know before anybody signs in */
  'GET /console/v1/platform': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      mode: string
      version: string
      sign_up: string
      now: number
      clock_offset_ms: number
      rooms: string[]
    }
  }
  /** Signs in by name and password, and by a code where there is a second factor: without one SECOND_FACTOR_REQUIRED tells */
  'POST /console/v1/sign-in': {
    path: undefined
    query: undefined
    body: {
      kind: "account" | "operator"
      name: string
      password: string
      code?: string
    }
    reply: {
      mode: string
      account: {
        user_id: number
        name: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
        accounts: {
          user_id: number
          name: string
          login_name: string
          kind: string
          state: number
        }[]
      } | null
      operator: {
        name: string
        role: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
      } | null
    }
  }
  /** Makes a main account with a password, and signs in (KONTOR_SIGN_UP: open, invited or off) */
  'POST /console/v1/sign-up': {
    path: undefined
    query: undefined
    body: {
      name: string
      password: string
      invitation?: string
    }
    reply: {
      mode: string
      account: {
        user_id: number
        name: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
        accounts: {
          user_id: number
          name: string
          login_name: string
          kind: string
          state: number
        }[]
      } | null
      operator: {
        name: string
        role: string
        session_id: number
        csrf: string
        factor: boolean
        password: boolean
        elevated_until: number
      } | null
    }
  }
  /** Lists where one is signed in */
  'GET /console/v1/sessions': {
    path: undefined
    query: {
      kind?: "account" | "operator"
    }
    body: undefined
    reply: {
      id: number
      current: boolean
      created_at: number
      last_seen: number
      expires_at: number
      ip: string
      agent: string
      via: string
    }[]
  }
  /** Ends a session of one’s own; what it has open closes */
  'DELETE /console/v1/sessions/{id}': {
    path: {
      id: number
    }
    query: {
      kind?: "account" | "operator"
    }
    body: undefined
    reply: undefined
  }
  /** Sets a new password and ends all other sessions; current is left out by who came by a link */
  'POST /console/v1/password': {
    path: undefined
    query: {
      kind?: "account" | "operator"
    }
    body: {
      current?: string
      next: string
    }
    reply: undefined
  }
  /** Draws the secret of a second factor, for an authenticator app; it counts when a code of it is confirmed */
  'POST /console/v1/factor': {
    path: undefined
    query: {
      kind?: "account" | "operator"
    }
    body: undefined
    reply: {
      secret: string
      otpauth_url: string
    }
  }
  /** Takes the second factor away; it takes a code of it, or a recovery code */
  'DELETE /console/v1/factor': {
    path: undefined
    query: {
      kind?: "account" | "operator"
    }
    body: {
      code: string
    }
    reply: undefined
  }
  /** Switches the second factor on by a code of it; answers ten recovery codes, once */
  'POST /console/v1/factor/confirm': {
    path: undefined
    query: {
      kind?: "account" | "operator"
    }
    body: {
      code: string
    }
    reply: {
      recovery_codes: string[]
    }
  }
  /** Opens what is dear for five minutes (live mode asks for it): by a code, or by the password where there is no second factor */
  'POST /console/v1/elevate': {
    path: undefined
    query: {
      kind?: "account" | "operator"
    }
    body: {
      code?: string
      password?: string
    }
    reply: {
      elevated_until: number
    }
  }
  /** The account's newest deposits, with how many confirmations each has and needs */
  'GET /console/v1/deposits': {
    path: undefined
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      id: string
      txid: string
      at: number
      amount: string
      currency: string
      chain: string
      address: string
      memo: string
      status: string
      reason: string
      confirmations: number
      needed: number
      seconds_left: number
      unlock_needed: number
    }[]
  }
  /** The account's newest withdrawals, with what holds each, who must still say yes, and its confirmations */
  'GET /console/v1/withdrawals': {
    path: undefined
    query: {
      limit?: number
    }
    body: undefined
    reply: {
      id: string
      status: string
      at: number
      amount: string
      fee: string
      arrives: string
      currency: string
      chain: string
      address: string
      memo: string
      txid: string
      internal: boolean
      holds: {
        status: string
        reason: string
      }[]
      approved_at: number[]
      approvals_needed: number
      send_at: number
      done_at: number
      fail_reason: string
      cancellable: boolean
      confirmations: number
      needed: number
      seconds_left: number
    }[]
  }
  /** Lists the account's own API keys */
  'GET /console/v1/keys': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
    }[]
  }
  /** Creates an API key of the account; its secret is shown here and never again */
  'POST /console/v1/keys': {
    path: undefined
    query: undefined
    body: {
      mode?: 1 | 2
      name?: string
      perms?: {
        name: string
        read_only?: boolean
      }[]
      ip_whitelist?: string[]
      replay_protection?: boolean
    }
    reply: {
      user_id: number
      key: string
      mode: number
      name: string
      perms: {
        name: string
        read_only: boolean
      }[]
      ip_whitelist: string[]
      state: number
      created_at: number
      updated_at: number
      update_at: number
      last_access: number
      replay_protection: boolean
      secret: string
    }
  }
  /** Replaces the name, the permissions and the IP list of a key; what is left out is cleared */
  'PUT /console/v1/keys/{key}': {
    path: {
      key: string
    }
    query: undefined
    body: {
      mode?: 1 | 2
      name?: string
      perms?: {
        name: string
        read_only?: boolean
      }[]
      ip_whitelist?: string[]
      replay_protection?: boolean
    }
    reply: undefined
  }
  /** Deletes an API key of the account; it stops working at once */
  'DELETE /console/v1/keys/{key}': {
    path: {
      key: string
    }
    query: undefined
    body: undefined
    reply: undefined
  }
  /** Lists the saved withdrawal addresses, with when each has been known for long enough (usable_at) */
  'GET /console/v1/addresses': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      id: number
      currency: string
      chain: string
      address: string
      name: string
      tag: string
      verified: boolean
      create_time: number
      usable_at: number | null
    }[]
  }
  /** Saves a withdrawal address, or names it anew; its cooling time begins when it is saved first */
  'POST /console/v1/addresses': {
    path: undefined
    query: undefined
    body: {
      currency: string
      chain?: string
      address: string
      name?: string
      tag?: string
    }
    reply: {
      id: number
      currency: string
      chain: string
      address: string
      name: string
      tag: string
      verified: boolean
      create_time: number
      usable_at: number | null
    }
  }
  /** Forgets a saved address */
  'DELETE /console/v1/addresses/{id}': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: undefined
  }
  /** Accepts a push that waits for this account */
  'POST /console/v1/pushes/{id}/accept': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
    }
  }
  /** Refuses a push that waits for this account; the sender has the money back */
  'POST /console/v1/pushes/{id}/refuse': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
    }
  }
  /** Takes back a push of this account that still waits */
  'POST /console/v1/pushes/{id}/cancel': {
    path: {
      id: number
    }
    query: undefined
    body: undefined
    reply: {
      id: number
      push_uid: number
      receive_uid: number
      currency: string
      amount: string
      create_time: number
      status: string
      message: string
      transaction_type: string
    }
  }
  /** Shows each figure of the unified account's margin with its inputs, prices, tiers and formula */
  'GET /console/v1/risk': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      user_id: number
      mode: string
      scope: string
      locked: boolean
      level: string
      below_maintenance: boolean
      distance: string
      figures: Record<string, {
        value: string
        formula: string
      }>
      currencies: {
        currency: string
        price: string
        price_source: string
        available: string
        freeze: string
        borrowed: string
        interest: string
        locked_deposits: string
        collateral: boolean
        equity: {
          value: string
          formula: string
        }
        counted_value: {
          value: string
          formula: string
        }
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        liability: string
        discount_tiers: {
          up_to: string
          discount: string
        }[]
        margin_tiers: {
          up_to: string
          initial_leverage: string
          maintenance_rate: string
        }[]
      }[]
      orders: {
        gives: string
        given: string
        gets: string
        got: string
      }[]
      contracts: {
        contract: string
        size: string
        margin_mode: string
        mark_price: string
        index_price: string
        unrealised_pnl: {
          value: string
          formula: string
        }
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        liq_price: string
        bankruptcy_price: string
      }[]
      risk_units: {
        currency: string
        price: string
        delta: string
        spot_in_use: string
        buys: string
        sells: string
        initial_margin: {
          value: string
          formula: string
        }
        maintenance_margin: {
          value: string
          formula: string
        }
        order_margin: {
          value: string
          formula: string
        }
      }[]
    }
  }
  /** Tells a market's price by the index prices of its currencies; 0 where one has none */
  'GET /console/v1/index_price': {
    path: undefined
    query: {
      currency_pair: string
    }
    body: undefined
    reply: {
      currency_pair: string
      price: string
    }
  }
  /** What the account was worth over time, in USDT at the prices of then; up to half a minute old. Of an account that is younger than the range: since it had anything */
  'GET /console/v1/worth': {
    path: undefined
    query: {
      range?: "24h" | "7d" | "30d"
    }
    body: undefined
    reply: {
      currency: string
      points: {
        time: number
        total: string
      }[]
    }
  }
  /** The last calls of the keys of the account and its sub-accounts, with bodies and replies; after: those that follow an id */
  'GET /console/v1/requests': {
    path: undefined
    query: {
      after?: number
      path?: string
      status?: string
      limit?: number
    }
    body: undefined
    reply: {
      last: number
      missed: number
      requests: {
        id: number
        time: number
        micros: number
        method: string
        path: string
        query: string
        ip: string
        user_id: number | null
        key: string | null
        operator: string | null
        status: number
        timestamp: string | null
        remain: number | null
        limit: number | null
        dropped: boolean
        ignored: string[]
        body: string
        body_length: number
        reply: string
        reply_length: number
      }[]
    }
  }
  /** The rate windows of the account's keys that were used just now */
  'GET /console/v1/limits': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      bucket: string
      market: string
      limit: number
      remain: number
      seconds: number
      reset: number
    }[]
  }
  /** Lists the WebSocket connections on which the account or a sub-account is logged in */
  'GET /console/v1/sockets': {
    path: undefined
    query: undefined
    body: undefined
    reply: {
      conn_id: string
      ip: string
      product: string
      since: number
      user_ids: number[]
      subscriptions: number
      queue_bytes: number
      frames_in: number
      frames_out: number
    }[]
  }
}
