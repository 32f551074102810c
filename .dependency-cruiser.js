/** The import directions of docs/architecture.md, enforced by `npm run check`. */
const NODE_CORE =
  '^(node:)?(fs|http|https|net|tls|dns|crypto|child_process|os|path|stream|timers|worker_threads|process|zlib)'

const ADAPTERS = '^lambdas/(adapters|api|middleware|steps|webhook|reconcile)/'

function forbid(name, comment, from, to) {
  return { name, comment, severity: 'error', from: { path: from }, to }
}

/** Of our own code a part of `lib/` imports what lies below these folders and nothing else; libraries are free. */
function onlyTo(name, from, folders) {
  const ours = '(lambdas|lib|bin|test|scripts)/'
  return forbid(name, `may import ${folders.join(', ')}`, from, { path: `^(?!${folders.join('|')})${ours}` })
}

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    forbid('core-is-pure', 'core imports itself and zod only', '^lambdas/core/', {
      pathNot: ['^lambdas/core/', '^node_modules/zod/'],
    }),
    forbid('core-without-io', 'core does no I/O', '^lambdas/core/', { path: NODE_CORE, dependencyTypes: ['core'] }),
    forbid('adapters-import-core', 'adapters import core and libraries', '^lambdas/adapters/', {
      path: '^(lambdas/(api|steps|webhook|reconcile|middleware|cdn-signing-key)|lib|bin|test)/',
    }),
    forbid('middleware-imports-core-and-adapters', 'middleware imports core and adapters', '^lambdas/middleware/', {
      path: '^(lambdas/(api|steps|webhook|reconcile|cdn-signing-key)|lib|bin|test)/',
    }),
    {
      name: 'handlers-never-import-each-other',
      comment: 'a folder with a handler imports core, adapters, middleware and its own files',
      severity: 'error',
      from: { path: '^lambdas/((?:api|steps)/[^/]+|webhook|reconcile|cdn-signing-key)/' },
      to: { path: '^lambdas/((?:api|steps)/[^/]+|webhook|reconcile|cdn-signing-key)/', pathNot: '^lambdas/$1/' },
    },
    forbid('lambdas-know-no-platform', 'what runs does not know where it runs', '^lambdas/', {
      path: '^(lib|bin|test)/',
    }),
    forbid('aws-sees-handlers-as-paths', 'lib/aws imports core and lib/config; handlers are file paths', '^lib/aws/', {
      path: '^(lambdas/(?!core/)|lib/(?!aws/|config/)|bin|test)/',
    }),
    onlyTo('config-imports-core', '^lib/config/', [
      'lambdas/core/',
      'lambdas/adapters/tokens/',
      'lib/config/',
      'lib/terminal/',
    ]),
    onlyTo('terminal-stands-alone', '^lib/terminal/', ['lib/terminal/']),
    onlyTo('local-never-imports-aws', '^lib/local/', ['lambdas/', 'lib/local/', 'lib/config/']),
    onlyTo('commands-import-no-handlers', '^lib/(admin|demo)/', [
      'lambdas/core/',
      'lambdas/adapters/',
      'lib/(admin|demo|local|config|terminal)/',
    ]),
    onlyTo('smoke-knows-the-contract-alone', '^lib/smoke/', ['lambdas/core/', 'lib/smoke/', 'lib/terminal/']),
    onlyTo('openapi-is-made-of-the-contract', '^lib/openapi/', ['lambdas/core/', 'lib/openapi/']),
    onlyTo('docs-are-made-of-openapi-and-config', '^lib/docs/', ['lib/(docs|openapi|config)/']),
    onlyTo('emulator-imports-no-adapters', '^lib/emulator/', [
      'lambdas/core/',
      'lib/(emulator|admin|local|config|terminal)/',
    ]),
    forbid('simulators-know-nothing', 'simulated upstreams import nothing of the gateway', '^lib/local/simulators/', {
      path: '^(lambdas|bin|test)/|^lib/(?!local/simulators/)',
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
    forbid('adapters-check-with-the-small-zod', 'zod/mini checks our own items; every cold start loads it', ADAPTERS, {
      path: '^node_modules/zod/(?!mini/)',
    }),
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
