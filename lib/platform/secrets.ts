/** Secrets by reference: Secrets Manager, or a local file outside the cloud. Kept in memory for a short time only. */
import { readFileSync } from 'node:fs';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';

/** A rotated secret is used after this time at the latest, ms. */
const KEPT_MS = 300_000;
const file = z.record(z.string(), z.string().min(1));

/** Reads `local:<name>` from `secretsFile` and ARNs from Secrets Manager; rejects when there is none. */
export function secretReader(
  secretsFile: string | null,
  now: () => number,
): (ref: string) => Promise<string> {
  const kept = new Map<string, { value: string; until: number }>();
  let client: SecretsManagerClient | undefined;
  const fetch = async (ref: string): Promise<string> => {
    if (ref.startsWith('local:')) return localSecret(secretsFile, ref.slice('local:'.length));
    client ??= new SecretsManagerClient({});
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: ref }));
    if (SecretString === undefined || SecretString === '')
      throw new RangeError('Cannot use an empty secret.');
    return SecretString;
  };
  return async (ref) => {
    const known = kept.get(ref);
    if (known !== undefined && now() < known.until) return known.value;
    const value = await fetch(ref);
    kept.set(ref, { value, until: now() + KEPT_MS });
    return value;
  };
}

function localSecret(secretsFile: string | null, name: string): string {
  if (secretsFile === null) throw new RangeError('Cannot read a local secret: no secrets file is named.');
  const value = file.parse(JSON.parse(readFileSync(secretsFile, 'utf8')))[name];
  if (value === undefined) throw new RangeError(`Cannot read a local secret: ${name} is not in the file.`);
  return value;
}
