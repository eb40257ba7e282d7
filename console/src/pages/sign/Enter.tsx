import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { keep, usePlatform } from '../../api/query.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Box } from './Box.tsx'

/** A link holds neither name nor password that could be looked at again. */
const NO_LINK = {
  title: 'The link does not work',
  advice: 'A link is good for an hour, and most links once.',
}

/** A one-time link: the token stands behind the #, which no server and no log sees, and is used up by a POST alone. */
export function Enter(): React.JSX.Element {
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>(undefined)
  const token = useRef<string | undefined>(undefined)
  const [missing, setMissing] = useState(false)
  const platform = usePlatform()
  const refused = error instanceof ApiError && error.label === 'INVALID_CREDENTIALS'
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
  if (error === undefined && !missing)
    return (
      <Box title="One moment">
        <Loading rows={3} />
      </Box>
    )
  return (
    <Box title="Sign in by link">
      {missing ? (
        <Empty>The link has no token. Copy the whole of it, with what stands behind the #.</Empty>
      ) : (
        <Failed error={error} told={refused ? NO_LINK : undefined} />
      )}
      {platform?.mode === 'sandbox' ? (
        <span className="dim">
          A new one: <code className="mono">npx kontor console-link demo</code>, or{' '}
          <code className="mono">operator</code> instead of <code className="mono">demo</code>
        </span>
      ) : null}
      <Button variant="default" onClick={() => void navigate({ to: '/sign-in' })}>
        Sign in with a password
      </Button>
    </Box>
  )
}
