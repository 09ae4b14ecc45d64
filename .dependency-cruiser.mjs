// Which part may import which. docs/ARCHITECTURE.md explains the picture.
export const slices = [
  'access',
  'catalog',
  'search',
  'gateway',
  'install',
  'remotes',
  'policy',
  'registry',
  'trust',
  'events',
];
/** What users are told, for the command line and MCP. */
const forUsers = ['hub/entity-details', 'hub/install-outcome', 'hub/short-names'];
export const mayImport = {
  errors: [],
  version: [],
  lib: [],
  access: ['lib'],
  catalog: ['lib'],
  search: ['lib', 'catalog'],
  policy: ['lib', 'catalog'],
  registry: ['lib', 'catalog', 'search'],
  events: ['lib'],
  gateway: ['lib', 'catalog'],
  install: ['lib', 'catalog', 'search', 'gateway'],
  // Reads artifacts the same way as installs.
  trust: ['lib', 'catalog', 'install'],
  remotes: ['lib', 'catalog', 'search', 'gateway', 'policy', 'registry', 'events'],
  store: ['lib', ...slices],
  settings: ['lib', 'access'],
  'remote-credentials': ['settings'],
  config: ['lib', 'access', 'settings', 'remote-credentials'],
  'hub/operations': slices,
  'hub/audit-words': ['lib', ...slices],
  'hub/guard': ['lib', 'hub/operations', 'hub/audit-words', 'access', 'catalog'],
  'hub/installs': ['install'],
  'hub/entity-details': ['lib', 'hub/operations', 'catalog'],
  'hub/install-outcome': ['lib', 'catalog', 'install'],
  'hub/short-names': ['lib', 'hub/operations', 'catalog', 'search'],
  'hub/policy': ['lib', 'access', 'catalog', 'policy'],
  hub: ['lib', 'config', 'store', 'version', ...slices],
  client: ['lib', 'version', 'hub/operations', ...slices],
  mcp: ['lib', 'hub/operations', ...forUsers, 'version', ...slices],
  http: ['lib', 'hub/hub', 'hub/guard', 'mcp', 'hub/operations', 'config', 'version', ...slices],
  cli: [
    'lib',
    'hub/hub',
    'mcp',
    'hub/operations',
    ...forUsers,
    'client',
    'settings',
    'config',
    'http',
    'version',
    ...slices,
  ],
  bin: ['cli'],
};

const room = (name) => `^src/${name}(/|\\.ts$)`;
const downhill = Object.entries(mayImport).map(([from, to]) => ({
  name: `${from}-imports-downhill`,
  severity: 'error',
  from: { path: room(from) },
  to: { path: '^src/', pathNot: [from, 'errors', ...to].map(room) },
}));

const onlyIn = (name, packages, places) => ({
  name: `${name}-only-in-its-place`,
  severity: 'error',
  from: { path: '^src/', pathNot: places },
  to: { path: packages },
});

/** What every entry point may know of the slices. */
const seenByEntryPoints = [
  '/contract\\.ts$',
  '^src/remotes/fetching/read-index\\.ts$',
  // Without zod, so that the page can use them too.
  '^src/search/search-query\\.ts$',
  '^src/gateway/state-words\\.ts$',
  '^src/access/audit-for-people\\.ts$',
  '^src/catalog/(uid|entity|manifest-text|artifact-kind|trust-signals)\\.ts$',
  '^src/access/authenticate\\.ts$',
  // Identifies the entity in a file the same way as ingest.
  '^src/remotes/ingest/entity-from-text\\.ts$',
];

export default {
  forbidden: [
    ...downhill,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', from: { orphan: true, path: '^src/' }, to: {} },
    {
      name: 'entry-points-see-contracts-only',
      comment:
        'An entry point translates: it knows the contract of a slice, and of the catalog also ids and manifest sources.',
      severity: 'error',
      from: { path: '^src/(http|client|mcp)/|^src/hub/operations' },
      to: { path: `^src/(${slices.join('|')})/`, pathNot: seenByEntryPoints },
    },
    {
      name: 'command-line-sees-contracts',
      comment: 'The command line also installs on its own machine, orders versions, and names transports.',
      severity: 'error',
      // Installs are wired up there, as in src/hub/hub.ts.
      from: { path: '^src/cli/', pathNot: '^src/cli/hub/own-install\\.ts$' },
      to: {
        path: `^src/(${slices.join('|')})/`,
        pathNot: [
          ...seenByEntryPoints,
          '^src/catalog/(client-config|transport|version-order)\\.ts$',
          // A policy is checked without a hub.
          '^src/policy/(read-policy|warnings)\\.ts$',
          // What should be published is checked without a hub.
          '^src/registry/publishing/validate\\.ts$',
          // An address is checked before a catalog is made for it.
          '^src/remotes/remotes\\.ts$',
        ],
      },
    },
    {
      name: 'store-calls-nobody',
      comment: 'Ports never hand out a transaction, so that no network call can be made inside one.',
      severity: 'error',
      from: { path: '^src/store/' },
      to: { path: '^src/lib/(net/(fetch|download|guarded-agent|guarded-proxy)|run)\\.ts$' },
    },
    {
      name: 'store-sees-ports-only',
      comment: 'SQL is written against ports and shapes, never against use cases.',
      severity: 'error',
      from: { path: '^src/store/' },
      to: {
        path: `^src/(${slices.join('|')})/`,
        pathNot: '/(store|search-index|contract|entity|facts|manifest|uid)\\.ts$',
      },
    },
    onlyIn('sql', 'node_modules/(kysely|pg)/|^(node:)?sqlite$', [
      '^src/store/',
      '^src/install/target/target-queue\\.ts$',
    ]),
    onlyIn('threads', 'node_modules/piscina/|^(node:)?worker_threads$', [
      '^src/lib/workers/workers\\.ts$',
      '-worker\\.ts$',
    ]),
    onlyIn('network', 'node_modules/undici/', '^src/lib/net/(send-once|guarded-agent)\\.ts$'),
    onlyIn('fastify', 'node_modules/(fastify|@fastify)/', ['^src/http/', '^src/cli/serve\\.ts$']),
    onlyIn('mcp', 'node_modules/@modelcontextprotocol/', ['^src/mcp/', '^src/http/routes/mcp\\.ts$']),
    onlyIn('child-process', '^(node:)?child_process$', [
      '^src/lib/run\\.ts$',
      '^src/bin/',
      '^src/cli/commands/open\\.ts$',
    ]),
    onlyIn('logging', 'node_modules/pino', '^src/lib/logger\\.ts$'),
    onlyIn('metrics', 'node_modules/prom-client/', '^src/lib/metrics\\.ts$'),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
