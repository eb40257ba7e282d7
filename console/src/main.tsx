import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app.css'
import { client } from './api/query.ts'
import { ElevationHost } from './frame/Elevation.tsx'
import { useScheme } from './frame/scheme.ts'
import { router } from './routes.tsx'
import { theme } from './theme.ts'

const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.nonce ?? ''
setNonce(nonce)

function App(): React.JSX.Element {
  const scheme = useScheme()
  return (
    <MantineProvider theme={theme} forceColorScheme={scheme} getStyleNonce={() => nonce}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <ElevationHost />
        <Notifications position="bottom-right" limit={4} zIndex={1000} />
      </QueryClientProvider>
    </MantineProvider>
  )
}
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
