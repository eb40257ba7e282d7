import { Alert, createTheme } from '@mantine/core'

/** One font stack of the system, radius 6, 13 px in tables; colours by app.css. */
export const theme = createTheme({
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Cantarell, "DejaVu Sans", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  primaryColor: 'indigo',
  primaryShade: 7,
  autoContrast: true,
  luminanceThreshold: 0.32,
  defaultRadius: 6,
  respectReducedMotion: true,
  cursorType: 'pointer',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  components: {
    // A tint of the surface, on which every text can be read in both schemes.
    Alert: Alert.extend({
      vars: (_, { color }) => {
        const tone = color === 'yellow' ? 'var(--wait)' : 'var(--down)'
        return {
          root: {
            '--alert-color': tone,
            '--alert-bg': `color-mix(in srgb, ${tone} 7%, var(--surface))`,
            '--alert-bd': `1px solid color-mix(in srgb, ${tone} 45%, var(--line))`,
          },
        }
      },
    }),
    Button: { defaultProps: { size: 'sm' } },
    TextInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', checkIconPosition: 'right', allowDeselect: false } },
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4 } } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 250, multiline: true, maw: 320 } },
  },
})
