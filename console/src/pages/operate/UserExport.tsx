import { Button } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { download } from '../../lib/download.ts'
import { toast, toastError } from '../../parts/states.tsx'
import { useMay } from './common.tsx'
import type { Of } from './common.tsx'

/** Page after page, with how far it has got; leaving the page gives it up. */
export function Export({ uid }: Of): React.JSX.Element {
  const may = useMay('operator')
  const [busy, setBusy] = useState<string | undefined>(undefined)
  const run = async (): Promise<void> => {
    try {
      setBusy('account')
      const whole: Record<string, unknown> = {
        ...(await call('GET /operator/v1/users/{uid}/export', { path: { uid } })),
      }
      let rows = 0
      for (const section of whole['sections'] as Section[]) {
        const all: unknown[] = []
        for (let after: string | null | undefined; after !== null;) {
          setBusy(`${section}, ${rows} records`)
          const page: Reply<'GET /operator/v1/users/{uid}/export/{section}'> = await call(
            'GET /operator/v1/users/{uid}/export/{section}',
            { path: { uid, section }, query: { limit: 5_000, ...(after !== undefined && { after }) } },
          )
          all.push(...page.rows)
          rows += page.rows.length
          after = page.next
        }
        whole[section] = all
      }
      delete whole['sections']
      download(`account-${uid}.json`, 'application/json', JSON.stringify(whole, null, 1))
      toast('The export is downloaded', `${rows} records; it is noted in the audit log.`)
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(undefined)
    }
  }
  return (
    <Button
      size="xs"
      variant="default"
      disabled={may !== undefined || busy !== undefined}
      title={may}
      onClick={() => void run()}
    >
      {busy === undefined ? 'Export data' : `Reading ${busy} …`}
    </Button>
  )
}
type Section =
  | 'deposits'
  | 'withdrawals'
  | 'pushes_sent'
  | 'pushes_received'
  | 'sub_transfers'
  | 'small_balances'
  | 'finished_orders'
  | 'fills'
  | 'price_orders'
  | 'pov_orders'
  | 'loans'
  | 'interest'
  | 'liquidations'
  | 'ledger'
