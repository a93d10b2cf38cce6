/**
 * The layers and what each may import, as rules for dependency-cruiser. Dependencies flow one way:
 * domain ← {ledger, providers} ← workflow ← operations ← functions. Types count like values, except where a
 * rule says otherwise.
 */
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';

const OURS = '^(cdk|functions|lib|test)/';
const DEPLOYED = '^(functions|lib/(domain|ledger|operations|platform|providers|workflow))/';
const TYPES_ONLY = 'type-only';

/** Our own folders or files that a layer may import besides itself, as regular expressions. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'lib/domain': [],
  'lib/platform': ['^lib/domain/'],
  'lib/ledger': ['^lib/(domain|platform)/'],
  'lib/providers': ['^lib/(domain|platform)/'],
  'lib/workflow': ['^lib/(domain|platform|providers)/', '^lib/ledger/ledger\\.ts$'],
  'lib/operations': ['^lib/(domain|platform|workflow)/', '^lib/ledger/ledger\\.ts$'],
  // Over HTTP only.
  'lib/cli': ['^lib/(domain|platform)/'],
  functions: ['^lib/(domain|ledger|operations|platform|providers|workflow)/'],
  cdk: ['^lib/platform/names\\.ts$', '^functions/(endpoints|routes-file)\\.ts$'],
  'lib/simulators': [],
};

const LAYERS: readonly IForbiddenRuleType[] = Object.entries(MAY_IMPORT).map(([layer, others]) => ({
  name: `layer:${layer}`,
  severity: 'error',
  from: { path: `^${layer}/` },
  to: { path: OURS, pathNot: [`^${layer}/`, ...others] },
}));

export const RULES: readonly IForbiddenRuleType[] = [
  ...LAYERS,
  {
    name: 'domain-is-pure',
    comment:
      'No I/O, and no library but canonical JSON, decimals and the list of currencies; a hash is pure.',
    severity: 'error',
    from: { path: '^lib/domain/' },
    to: {
      pathNot: [
        '^lib/domain/',
        '^(node:)?crypto$',
        '(^|/)canonicalize(/|$)',
        '(^|/)big\\.js(/|$)',
        '(^|/)dinero\\.js/(dist/esm/)?currencies(/|$)',
      ],
    },
  },
  {
    name: 'platform-knows-types-of-the-domain-only',
    severity: 'error',
    from: { path: '^lib/platform/' },
    to: { path: '^lib/domain/', dependencyTypesNot: [TYPES_ONLY] },
  },
  {
    name: 'simulators-share-nothing',
    comment: 'A mistake in an adapter must not be repeated by what it is tested against.',
    severity: 'error',
    from: { path: '^lib/simulators/' },
    to: { dependencyTypesNot: ['core'], pathNot: ['^lib/simulators/', '(^|/)zod(/|$)'] },
  },
  {
    name: 'one-sender',
    comment:
      'Who holds the transport, or what opens sessions, can write outside: send, and the root that hands them over.',
    severity: 'error',
    from: { path: '^(cdk|functions|lib)/', pathNot: '^(lib/workflow/send|functions/wiring)\\.ts$' },
    to: { path: '^lib/providers/(transport|session-call)\\.ts$', dependencyTypesNot: [TYPES_ONLY] },
  },
  {
    name: 'one-asker',
    comment:
      'It asks whatever it is told: only the reader, which only reads, and the opener of sessions may tell it.',
    severity: 'error',
    from: { path: '^(cdk|functions|lib)/', pathNot: '^lib/providers/(reader|session-call|transport)\\.ts$' },
    to: { path: '^lib/providers/bounded-fetch\\.ts$', dependencyTypesNot: [TYPES_ONLY] },
  },
  {
    name: 'one-place-for-sockets',
    severity: 'error',
    from: { path: DEPLOYED, pathNot: '^lib/providers/transport\\.ts$' },
    to: { path: '^(node:)?(http|https|http2|net|tls|dgram|undici)$' },
  },
  {
    name: 'no-children',
    comment: 'What is deployed lives and ends with its function, or Z is not true.',
    severity: 'error',
    from: { path: DEPLOYED },
    to: { path: '^(node:)?(child_process|cluster|worker_threads)$' },
  },
  {
    name: 'one-edge',
    severity: 'error',
    from: { path: '^(functions|lib)/', pathNot: '^functions/handler\\.ts$' },
    to: { path: '(^|/)@middy/' },
  },
  {
    name: 'no-cycles',
    comment: 'At run time: a cycle with a type-only import in it is none.',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: [TYPES_ONLY] } },
  },
];

/** What dependency-cruiser finds below `baseDir` under the rules. */
export async function cruised(baseDir: string): Promise<ICruiseResult> {
  const { output } = await cruise(
    ['cdk', 'functions', 'lib'],
    {
      baseDir,
      validate: true,
      ruleSet: { forbidden: [...RULES] },
      tsPreCompilationDeps: true,
      doNotFollow: { path: ['node_modules'] },
    },
    { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  );
  if (typeof output === 'string') throw new TypeError('Cannot read a text: the object was asked for.');
  return output;
}
