# Builds Kontor and runs it as a user without rights. Data lives in the volume /data.
FROM node:20-bookworm-slim AS build
WORKDIR /kontor
COPY . .
RUN npm ci && npm prune --omit=dev

FROM node:20-bookworm-slim
ENV NODE_ENV=production KONTOR_HOST=0.0.0.0 KONTOR_PORT=8080 KONTOR_DATA=/data
WORKDIR /kontor
COPY --from=build /kontor/package.json ./
COPY --from=build /kontor/bin ./bin
COPY --from=build /kontor/dist/src ./dist/src
COPY --from=build /kontor/console/dist ./console/dist
COPY --from=build /kontor/node_modules ./node_modules
RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM reaches node itself, which finishes what is under way and flushes.
CMD ["node", "--max-semi-space-size=32", "bin/kontor.js", "start"]
