/**
 * The one endpoint table. It feeds the cloud template, the local gateway and the authorisation tests.
 * `function` names the file in this folder; `scope` is the token scope a caller needs, null for none.
 */
export type Scope = 'submit' | 'read' | 'approve' | 'operate' | 'admin';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** API Gateway path syntax: `{name}` is one path segment. */
  readonly path: string;
  readonly function: string;
  /** A function that answers some of its requests, each as it came: same callers, same scope, rights of its own. */
  readonly asks?: string;
  readonly scope: Scope | null;
  /** What only a person may say, whatever scopes a service holds. */
  readonly personOnly?: true;
}

export const endpoints: readonly Endpoint[] = [
  { method: 'POST', path: '/intents', function: 'accept', scope: 'submit' },
  { method: 'GET', path: '/intents', function: 'list', scope: 'read' },
  { method: 'GET', path: '/intents/{id}', function: 'show', scope: 'read' },
  { method: 'GET', path: '/intents/{id}/evidence', function: 'evidence', scope: 'read' },
  { method: 'GET', path: '/intents/{id}/receipt', function: 'receipt', scope: 'read' },
  { method: 'GET', path: '/intents/{id}/manifest', function: 'manifest', scope: 'read' },
  { method: 'GET', path: '/intents/{id}/approval', function: 'approval', scope: 'read' },
  { method: 'PUT', path: '/intents/{id}/approval', function: 'approve', scope: 'approve', personOnly: true },
  { method: 'DELETE', path: '/intents/{id}/approval', function: 'revoke', scope: 'approve' },
  {
    method: 'POST',
    path: '/intents/{id}/reconciliation',
    function: 'reconcile',
    asks: 'dry-run',
    scope: 'operate',
  },
  { method: 'POST', path: '/intents/{id}/withdrawal', function: 'withdraw', scope: 'submit' },
  { method: 'POST', path: '/intents/{id}/decision', function: 'decide', scope: 'operate', personOnly: true },
  { method: 'POST', path: '/intents/{id}/again', function: 'again', scope: 'approve', personOnly: true },
  { method: 'POST', path: '/intents/{id}/corrections', function: 'correct', scope: 'submit' },
  { method: 'PUT', path: '/intents/{id}/owner', function: 'own', scope: 'operate' },
  { method: 'DELETE', path: '/intents/{id}/owner', function: 'disown', scope: 'operate' },
  { method: 'GET', path: '/queue', function: 'queue', scope: 'operate' },
  { method: 'PUT', path: '/routes/{route}/freeze', function: 'freeze', scope: 'operate' },
  { method: 'DELETE', path: '/routes/{route}/freeze', function: 'thaw', scope: 'operate' },
  { method: 'PUT', path: '/freeze', function: 'freeze-all', scope: 'admin' },
  { method: 'DELETE', path: '/freeze', function: 'thaw-all', scope: 'admin' },
  { method: 'POST', path: '/webhooks/{endpoint}', function: 'take-evidence', scope: null },
  { method: 'GET', path: '/health', function: 'health', scope: null },
  { method: 'GET', path: '/openapi.json', function: 'openapi', scope: null },
];

/** Every function that an endpoint needs, once; whoever is asked stands before who asks. */
export function functionsOfApi(): readonly string[] {
  const all = endpoints.flatMap(({ function: name, asks }) => (asks === undefined ? [name] : [asks, name]));
  return [...new Set(all)];
}
