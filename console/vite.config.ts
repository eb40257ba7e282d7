import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    target: 'es2022',
    outDir: 'dist.next',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What changes seldom keeps its name when pages change.
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\// },
            { name: 'tanstack', test: /node_modules\/@tanstack\/(?!react-virtual|virtual)/ },
          ],
        },
      },
    },
  },
  server: {
    // A platform that runs beside: npm start.
    proxy: {
      '/console': { target: 'http://127.0.0.1:8080', ws: true },
      '/docs': 'http://127.0.0.1:8080',
    },
  },
})
