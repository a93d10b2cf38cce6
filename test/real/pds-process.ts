/**
 * The PDS as a program of its own, so that it can be killed as a machine can. It listens on loopback only, says one
 * line of JSON (`{"port":…}`) when it serves, and ends with its standard input.
 *
 * node pds-process.ts '{"directory":…,"plcUrl":…,"port":…,"rateLimits":…}'
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { envToCfg, envToSecrets, PDS } from '@atproto/pds';
import * as z from 'zod/v4';
import { portOf, SECRETS } from './ground.ts';

const Settings = z.strictObject({
  directory: z.string(),
  plcUrl: z.url(),
  /** 0 for any free port. */
  port: z.int(),
  /** As the public servers have them: 5000 points an hour, of which a create takes 3. */
  rateLimits: z.boolean(),
});

const settings = Settings.parse(JSON.parse(process.argv[2] ?? '{}'));
process.stdin.resume().once('end', () => process.exit(0));

// The server binds first: the PDS writes its own port into every identity. (Its own `start` binds all addresses.)
const server = createServer().listen(settings.port, '127.0.0.1');
await once(server, 'listening');
const port = portOf(server);
const env = {
  port,
  hostname: 'localhost',
  devMode: true,
  inviteRequired: false,
  rateLimitsEnabled: settings.rateLimits,
  dataDirectory: settings.directory,
  blobstoreDiskLocation: join(settings.directory, 'blobs'),
  didPlcUrl: settings.plcUrl,
  ...SECRETS,
};
const pds = await PDS.create(envToCfg(env), envToSecrets(env));
await pds.ctx.sequencer.start();
server.on('request', pds.app);
console.log(JSON.stringify({ port }));
