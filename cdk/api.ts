/**
 * The HTTP API, made from the endpoint table and nothing else: one route per endpoint, its scope checked by
 * the gateway before a function runs. The access log holds no path, no body and no token.
 */
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  type HttpRouteIntegration,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type Endpoint, endpoints } from '../functions/endpoints.ts';
import { acknowledge } from './acknowledged.ts';
import { keptLogs } from './functions.ts';

export interface TokenIssuer {
  /** `iss` of accepted tokens; its JWKS is fetched from there. */
  readonly issuer: string;
  /** `aud` of accepted tokens. */
  readonly audience: string;
}

/** Bounds what a runaway caller can cost; a call refused with 429 stored nothing and may be sent again. */
const THROTTLE = { rateLimit: 200, burstLimit: 400 };

/** @param functionOf the deployed function of an endpoint, by its file name. */
export function deployApi(
  scope: Construct,
  functionOf: (name: string) => IFunction,
  tokens: TokenIssuer,
): { readonly url: string } {
  const api = new HttpApi(scope, 'Api', { apiName: 'kakutei', createDefaultStage: false });
  const jwt = new HttpJwtAuthorizer('Tokens', tokens.issuer, { jwtAudience: [tokens.audience] });
  const integrations = new Map<string, HttpRouteIntegration>();
  for (const endpoint of endpoints) {
    const known = integrations.get(endpoint.function) ?? integrationOf(endpoint, functionOf);
    integrations.set(endpoint.function, known);
    addRoute(api, endpoint, known, jwt);
  }
  return { url: addStage(scope, api).url };
}

function integrationOf(endpoint: Endpoint, functionOf: (name: string) => IFunction): HttpRouteIntegration {
  return new HttpLambdaIntegration(`To-${endpoint.function}`, functionOf(endpoint.function));
}

function addRoute(
  api: HttpApi,
  endpoint: Endpoint,
  integration: HttpRouteIntegration,
  jwt: HttpJwtAuthorizer,
) {
  const route = { path: endpoint.path, methods: [HttpMethod[endpoint.method]], integration };
  if (endpoint.scope !== null) {
    api.addRoutes({ ...route, authorizer: jwt, authorizationScopes: [endpoint.scope] });
    return;
  }
  const open = api.addRoutes({ ...route, authorizer: new HttpNoneAuthorizer() });
  for (const one of open) acknowledge(one, 'AwsSolutions-APIG4');
}

function addStage(scope: Construct, api: HttpApi): HttpStage {
  return new HttpStage(scope, 'Stage', {
    httpApi: api,
    stageName: '$default',
    autoDeploy: true,
    throttle: THROTTLE,
    accessLogSettings: {
      destination: new LogGroupLogDestination(keptLogs(scope, 'AccessLogs')),
      format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
    },
  });
}

const ACCESS_LOG = {
  requestId: '$context.requestId',
  requestTime: '$context.requestTime',
  routeKey: '$context.routeKey',
  status: '$context.status',
  authorizerError: '$context.authorizer.error',
  integrationStatus: '$context.integration.status',
  integrationLatency: '$context.integration.latency',
  responseLength: '$context.responseLength',
};
