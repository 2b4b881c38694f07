# Builds the npm package, then runs it alone: no sources, no devDependencies, no package manager's cache.
# By default a name, which may be another image tomorrow; docs/supply-chain.md says how to hold it to its content.
ARG BASE=node:26-bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY package.json package-lock.json ./
# no scripts: Node is the base image's, so the one that npm would fetch for development isn't
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM ${BASE} AS packages
WORKDIR /src
COPY package.json package-lock.json bin/peers.js ./
# the image has the packages of all optional features
RUN node peers.js && npm ci --omit=dev --ignore-scripts && rm -rf node_modules/.bin

FROM ${BASE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app/node_modules/soapbridge
COPY --from=build /src/package.json ./
COPY --from=build /src/bin ./bin
COPY --from=build /src/dist ./dist
COPY --from=build /src/mappings/screening ./mappings/screening
COPY --from=build /src/schemas ./schemas
COPY --from=packages /src/node_modules /app/node_modules
USER node
EXPOSE 8080
# documents that are mounted here can be named without their folder
WORKDIR /contract
# The timeout is longer than a request by HTTP and one by TLS may take.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["node", "/app/node_modules/soapbridge/bin/healthcheck.js"]
# Without an upstream `serve` does not start; `docker run IMAGE serve --demo` serves the demo.
ENTRYPOINT ["node", "/app/node_modules/soapbridge/bin/soapbridge.js"]
CMD ["serve"]
