# Two stages build the hub and install its dependencies. The third contains only what runs: Node, the dependencies, dist, the models, the
# sample catalog, and the programs that installs use.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts, because the page is built below, after its sources are copied.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json vite.config.ts ./
COPY src ./src
COPY web ./web
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Keeps onnxruntime for this platform only, and drops the Node runtimes from npm, which are for checkouts.
RUN npm ci --omit=dev --ignore-scripts \
    && rm -rf node_modules/node-linux-* \
    && find node_modules/onnxruntime-node/bin -mindepth 2 -maxdepth 2 ! -name linux -exec rm -rf {} + \
    && find node_modules/onnxruntime-node/bin -mindepth 3 -maxdepth 3 ! -name "$(node -p process.arch)" -exec rm -rf {} +

FROM node:24-slim
LABEL org.opencontainers.image.title="Catalog Hub" \
      org.opencontainers.image.description="A catalog of agents, tools and MCP servers" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8443 \
    DATA_DIR=/data \
    INSTALL_ROOT=/data/installed \
    HOME=/data/home
# The programs that installs use. The npm of the base image is too old: before 11.14, npm connects to any address that a package names. Without
# a container engine, the digest of an image is recorded and nothing is pulled. `npm run test:container` installs one artifact of each kind
# with exactly these programs.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && npm install --global --prefix /usr/local npm@11.19.1 \
    && python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir --disable-pip-version-check uv==0.13.7 \
    && ln -s /opt/uv/bin/uv /usr/local/bin/uv
WORKDIR /app
# package.json is read at run time, for the version.
COPY LICENSE package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY demo ./demo
COPY models ./models
# Apart from temporary files, the hub writes only below /data, so the root file system can be read-only. A host folder mounted there must
# belong to the container's user (uid 1000); it may be empty.
RUN mkdir -p /data/home /data/installed && chown -R node:node /data
USER node
VOLUME /data
EXPOSE 8443
# Certificates are issued for the public host name, so this check on 127.0.0.1 does not verify them.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["node", "-e", "const { PORT, TLS_CERT_FILE } = process.env; process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch((TLS_CERT_FILE ? 'https' : 'http') + '://127.0.0.1:' + PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/bin/hub.js"]
CMD ["serve"]
