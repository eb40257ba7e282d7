import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { keep } from '../../api/query.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Box } from './Box.tsx'

/** A one-time link: the token stands behind the #, which no server and no log sees, and is used up by a POST alone. */
export function Enter(): React.JSX.Element {
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>(undefined)
  const token = useRef<string | undefined>(undefined)
  const [missing, setMissing] = useState(false)
  useEffect(() => {
    if (token.current !== undefined) return
    token.current = location.hash.slice(1)
    // It should stand neither in the address bar nor in the history.
    history.replaceState(history.state, '', '/enter')
    if (token.current === '') {
      setMissing(true)
      return
    }
    call('POST /console/v1/enter', { body: { token: token.current } }).then(
      (session) => {
        keep(session)
        void navigate({ to: '/', replace: true })
      },
      (caught: unknown) => setError(caught),
    )
  }, [navigate])
  return (
    <Box title="One moment">
      {missing ? (
        <Empty>The link has no token. Copy the whole of it, with what stands behind the #.</Empty>
      ) : null}
      {error === undefined ? missing ? null : <Loading rows={3} /> : <Failed error={error} />}
      {error === undefined && !missing ? null : (
        <>
          <span className="dim">
            A link is good for an hour. A new one: <code className="mono">npx kontor console-link demo</code>
          </span>
          <Button variant="default" onClick={() => void navigate({ to: '/sign-in' })}>
            Sign in with a password
          </Button>
        </>
      )}
    </Box>
  )
}
