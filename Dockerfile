# syntax=docker/dockerfile:1
# Plinth in a container: `docker build -t plinth .`, then `docker compose up`, or deploy/helm. The last stage holds Node.js, the
# server and what it imports; it has no shell and no package manager, and its user is not root.

FROM node:24-bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends binutils
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund
RUN node deploy/image.ts /image/app
RUN mkdir -p /image/data && strip -o /image/node "$(command -v node)"

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image/node /usr/local/bin/node
COPY --from=build /image/app /app
COPY --from=build --chown=65532:65532 /image/data /data
WORKDIR /app
USER 65532:65532
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 PLINTH_DATA_DIR=/data
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["/usr/local/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/local/bin/node", "bin/plinth.cjs"]
CMD ["serve"]
