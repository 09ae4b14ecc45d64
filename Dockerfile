# Two stages build and fetch. The third holds only what runs: Node, production dependencies, dist, the models, the sample catalog, and the
# programs that installs use.

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: the page is built below, once its sources are there.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json vite.config.ts ./
COPY src ./src
COPY web ./web
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Of the optional dependencies, the runtime of the embedding model is wanted, for this platform; the Node runtimes that npm brings for
# checkouts are not, for this image has one.
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
# Installs use git, npm, Python and uv; the npm of the base image is too old to be kept from addresses that packages name. Without a container
# engine, the digest of an image is recorded and nothing is pulled. `npm run test:container` installs one artifact of each kind with exactly
# these programs.
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
# Everything that the hub writes is below /data, so the root can be read-only. A folder of the host that is mounted there must belong to the
# user of the container, 1000; it may be empty.
RUN mkdir -p /data/home /data/installed && chown -R node:node /data
USER node
VOLUME /data
EXPOSE 8443
# Certificates are made for the public name, so the one of a hub that speaks HTTPS itself is not checked here.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["node", "-e", "const { PORT, TLS_CERT_FILE } = process.env; process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; fetch((TLS_CERT_FILE ? 'https' : 'http') + '://127.0.0.1:' + PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Small steps of the young heap: a hub shares its machine.
ENTRYPOINT ["node", "--max-semi-space-size=4", "dist/bin/hub.js"]
CMD ["serve"]
