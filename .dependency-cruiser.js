/** The import directions of docs/architecture.md, enforced by `npm run check`. */
const NODE_CORE =
  '^(node:)?(fs|http|https|net|tls|dns|crypto|child_process|os|path|stream|timers|worker_threads|process|zlib)'

const WITH_OUR_OWN_ITEMS =
  '^lambdas/(store|platform|upstream|admin|admin-api|api|middleware|pipeline|relay(?!/protocols))/'

/** Folders with a handler of their own: they never import each other. */
const HANDLERS = '(?:admin-api|api|pipeline)/[^/]+|cdn-signing-key|console-files|relay-(?:code|smoke)'

function forbid(name, comment, from, to) {
  return { name, comment, severity: 'error', from: { path: from }, to }
}

/** Of our own code a part of `lib/` imports what lies below these folders and nothing else; libraries are free. */
function onlyTo(name, from, folders) {
  const ours = '(lambdas|lib|bin|test|scripts|web)/'
  return forbid(name, `may import ${folders.join(', ')}`, from, { path: `^(?!${folders.join('|')})${ours}` })
}

/** Folders of one place, from the ground up: none imports a floor above its own. */
function floors(place, levels) {
  return levels.slice(0, -1).map((level, index) => {
    const above = levels.slice(index + 1).flat()
    return forbid(
      `${place.replaceAll('/', '-')}-floor-${index + 1}`,
      `${level.join(', ')} of ${place} stand below ${above.join(', ')}`,
      `^${place}/(${level.join('|')})`,
      { path: `^${place}/(${above.join('|')})` },
    )
  })
}

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    forbid(
      'programs-run-without-jest',
      'benchmarks and the long simulation run outside of the test runner',
      '^(bench/|test/simulation/run-long)',
      { path: '@jest/globals', reachable: true },
    ),
    forbid('core-is-pure', 'core imports itself and zod only', '^lambdas/core/', {
      pathNot: ['^lambdas/core/', '^node_modules/zod/'],
    }),
    forbid('core-without-io', 'core does no I/O', '^lambdas/core/', { path: NODE_CORE, dependencyTypes: ['core'] }),
    ...floors('lambdas/core', [
      ['[^/]+\\.ts$', 'json/'],
      ['catalogue/', 'providers/'],
      ['jobs/'],
      ['pricing/'],
      ['api/'],
      ['relay/'],
      ['admin/'],
    ]),
    ...floors('lambdas/store', [
      ['table/', 'bucket/', 'store-refusal\\.ts'],
      ['audit/', 'callers\\.ts', 'usage\\.ts'],
      ['budgets\\.ts', 'budget-moves\\.ts', 'switches\\.ts', 'limits/'],
      ['relay-ledger/', 'job-ledger/'],
      ['tenants/', 'keys/', 'jobs/'],
      ['key-budgets\\.ts', 'due-index\\.ts', 'caller-with-account\\.ts', 'sessions/', 'alerts/'],
      ['summary\\.ts', 'current-catalogue\\.ts'],
    ]),
    ...floors('lambdas', [
      ['core/'],
      ['routes/'],
      ['platform/'],
      ['store/', 'upstream/'],
      ['middleware/'],
      ['relay/', 'pipeline/', 'admin/', 'cdn-signing-key/', 'console-files/'],
      ['api/', 'admin-api/'],
      ['relay-server/'],
    ]),
    forbid('store-apart-from-upstream', 'the table and upstreams share platform only', '^lambdas/store/', {
      path: '^lambdas/upstream/',
    }),
    forbid('upstream-apart-from-store', 'the table and upstreams share platform only', '^lambdas/upstream/', {
      path: '^lambdas/store/',
    }),
    ...floors('lambdas/platform', [
      ['(cache|clock|concurrency|configuration|crypto|callback-signature)\\.ts'],
      ['http/', 'http-server/', 'telemetry/'],
      ['aws/'],
      ['secrets\\.ts', 'replace-secret\\.ts'],
      ['cdn/'],
    ]),
    ...floors('lambdas/upstream', [
      ['tokens/', 'measures\\.ts', 'guard/'],
      ['providers/', 'send-callback\\.ts'],
    ]),
    forbid(
      'relay-knows-no-protocol',
      'the relay serves whatever is a RelayProtocol; functions and the relay server name them',
      '^lambdas/relay/[^/]+$',
      { path: '^lambdas/relay/protocols/' },
    ),
    forbid(
      'relay-apart-from-pipeline',
      'relayed requests and video jobs share the rooms below only',
      '^lambdas/relay/',
      {
        path: '^lambdas/pipeline/',
      },
    ),
    forbid(
      'pipeline-apart-from-relay',
      'relayed requests and video jobs share the rooms below only',
      '^lambdas/pipeline/',
      {
        path: '^lambdas/relay/',
      },
    ),
    {
      name: 'handlers-never-import-each-other',
      comment: 'a folder with a handler imports what all share and its own files',
      severity: 'error',
      from: { path: `^lambdas/(${HANDLERS})/` },
      to: { path: `^lambdas/(${HANDLERS})/`, pathNot: '^lambdas/$1/' },
    },
    forbid('lambdas-know-no-platform', 'what runs does not know where it runs', '^lambdas/', {
      path: '^(lib|bin|test|web)/',
    }),
    forbid(
      'stack-sees-handlers-as-paths',
      'lib/stack imports core, the definitions of routes, lib/config and lib/console; handlers are file paths',
      '^lib/stack/',
      { path: '^(lambdas/(?!(core|routes)/)|lib/(?!stack/|config/|console/)|bin|test)/' },
    ),
    onlyTo('config-imports-core', '^lib/config/', [
      'lambdas/core/',
      'lambdas/routes/needs\\.ts$',
      'lambdas/upstream/tokens/token-ranks\\.ts$',
      'lib/config/',
      'lib/cli/terminal\\.ts$',
    ]),
    onlyTo('terminal-and-failures-stand-alone', '^lib/cli/(terminal|failures)\\.ts$', [
      'lib/cli/(failures|terminal|parent-process)\\.ts$',
      'lib/config/operator-error\\.ts$',
      'lambdas/core/nearest-name\\.ts$',
    ]),
    onlyTo('local-never-imports-the-stack', '^lib/local/', [
      'lambdas/',
      'lib/local/',
      'lib/config/',
      'lib/console/',
      'lib/simulators/',
    ]),
    onlyTo('console-files-stand-alone', '^lib/console/', ['lib/console/']),
    onlyTo('the-console-knows-the-api-alone', '^web/', ['web/']),
    forbid('web-core-is-pure', 'rules of the console without a browser', '^web/src/core/', {
      pathNot: '^web/src/core/',
    }),
    ...floors('web/src', [['core/'], ['state/'], ['api/'], ['components/'], ['shell/', 'pages/']]),
    onlyTo('commands-import-no-handlers', '^lib/cli/(admin/|preflight/|(output|findings|demo)\\.ts$)', [
      'lambdas/core/',
      'lambdas/platform/',
      'lambdas/upstream/',
      'lambdas/store/',
      'lambdas/admin/',
      'lambdas/pipeline/[^/]+\\.ts$',
      'lib/cli/(admin/|preflight/|smoke/|(output|findings|failures|terminal|demo)\\.ts$)',
      'lib/(local|config)/',
    ]),
    onlyTo('smoke-knows-the-contract-alone', '^lib/cli/smoke/', [
      'lambdas/core/',
      'lib/cli/smoke/',
      'lib/cli/terminal\\.ts$',
    ]),
    onlyTo('emulator-imports-no-use-cases', '^lib/cli/(emulator|serve-simulators)\\.ts$', [
      'lambdas/core/',
      'lib/cli/(emulator|serve-simulators|failures|terminal)\\.ts$',
      'lib/(local|config)/',
    ]),
    onlyTo('openapi-is-made-of-the-contract', '^lib/openapi/(?!generated-files)', [
      'lambdas/core/',
      'lambdas/routes/',
      'lambdas/relay/protocols/',
      'lambdas/admin/',
      'lib/cli/admin/(commands|document)\\.ts$',
      'lib/openapi/(?!generated-files)',
    ]),
    onlyTo('generated-files-are-made-of-what-they-document', '^lib/openapi/generated-files', [
      'lib/(openapi|config|stack)/',
    ]),
    ...floors('lib/cli', [
      ['terminal\\.ts'],
      ['failures\\.ts'],
      ['output\\.ts'],
      ['findings\\.ts'],
      ['admin/', 'preflight/', 'emulator\\.ts'],
      ['demo\\.ts'],
    ]),
    forbid('simulators-know-nothing', 'simulated upstreams import nothing of the gateway', '^lib/simulators/', {
      path: '^(lambdas|bin|test)/|^lib/(?!simulators/)',
    }),
    {
      name: 'nothing-imports-bin-or-test',
      severity: 'error',
      from: { pathNot: '^(bin|test|scripts|bench)/' },
      to: { path: '^(bin|test)/' },
    },
    {
      name: 'only-its-tests-import-bench',
      severity: 'error',
      from: { pathNot: '^(bench|test/bench)/' },
      to: { path: '^bench/' },
    },
    forbid('bench-measures-what-runs', 'bench imports lambdas, lib and the engines of the tests', '^bench/', {
      path: '^(bin|scripts)/|^test/(?!engines/)',
    }),
    forbid(
      'our-own-items-are-checked-with-the-small-zod',
      'zod/mini checks our own items; every cold start loads it',
      WITH_OUR_OWN_ITEMS,
      {
        path: '^node_modules/zod/(?!mini/)',
      },
    ),
    forbid(
      'one-door-to-the-table',
      'the SDK reaches the table through sdk-table.ts alone',
      '^lambdas/(?!store/table/sdk-table)',
      {
        path: '^node_modules/@aws-sdk/(lib|client)-dynamodb/',
      },
    ),
    forbid(
      'one-choice-of-the-lean-table',
      'relayed functions use the table without the SDK; their common context opens it',
      '^lambdas/(?!middleware/caller-context)',
      { path: '^lambdas/store/table/lean-table' },
    ),
    {
      name: 'no-dev-dependency-in-lambdas',
      severity: 'error',
      from: { path: '^lambdas/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'], pathNot: '@types' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(cdk.out|coverage)/' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
