/**
 * One self-contained file per function. What is uploaded is exactly what the bundle tests load: nothing is
 * left to a layer or to the runtime's own copy of the SDK, whose version would change under us.
 */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

export interface BundleInfo {
  /** Name of the function. */
  readonly name: string;
  /** Absolute folder with `index.mjs` and `routes.json`. */
  readonly dir: string;
  /** Size of `index.mjs`, minified. */
  readonly bytes: number;
}

export interface BundleOptions {
  readonly names: readonly string[];
  /** Absolute folder that holds `<name>.ts`, each exporting `handler`. */
  readonly functionsDir: string;
  /** Absolute; emptied first. */
  readonly outDir: string;
  /** The configuration that is deployed with every function. */
  readonly routesFile: string;
}

/** Bundles all functions in one build. Refuses (throws) when an entry is missing or does not compile. */
export async function bundleAll(options: BundleOptions): Promise<readonly BundleInfo[]> {
  await rm(options.outDir, { recursive: true, force: true });
  const result = await build({
    absWorkingDir: options.functionsDir,
    entryPoints: options.names.map((name) => ({
      in: join(options.functionsDir, `${name}.ts`),
      out: `${name}/index`,
    })),
    outdir: options.outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    // The SDK's ES modules can be shaken, its CommonJS cannot: 344 KB against 550.
    mainFields: ['module', 'main'],
    plugins: [environmentCredentials],
    legalComments: 'none',
    metafile: true,
    logLevel: 'silent',
  });
  return Promise.all(options.names.map((name) => described(name, options, result.metafile)));
}

/**
 * Lambda hands credentials over in the environment. The SDK's default chain would look on in files, at sign-on
 * services and at metadata addresses: 90 KB in every bundle, for places that a function has no business asking.
 */
const environmentCredentials: Plugin = {
  name: 'environment-credentials',
  setup(building) {
    const namespace = 'environment-credentials';
    building.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ resolveDir }) => {
      return { path: 'default-provider', namespace, pluginData: resolveDir };
    });
    building.onLoad({ filter: /^default-provider$/, namespace }, ({ pluginData }) => {
      return { contents: ENVIRONMENT_ONLY, resolveDir: pluginData };
    });
  },
};

const ENVIRONMENT_ONLY = "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';";

async function described(name: string, options: BundleOptions, meta: Metafile): Promise<BundleInfo> {
  const dir = join(options.outDir, name);
  await mkdir(dir, { recursive: true });
  await copyFile(options.routesFile, join(dir, 'routes.json'));
  return { name, dir, bytes: bytesOf(name, meta) };
}

function bytesOf(name: string, meta: Metafile): number {
  const found = Object.entries(meta.outputs).find(([path]) => path.endsWith(`/${name}/index.mjs`));
  if (found === undefined) throw new Error(`Cannot measure bundle "${name}": the build did not write it`);
  return found[1].bytes;
}
