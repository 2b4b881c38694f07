import { createRequire } from 'node:module';

/** A feature that needs optional peer dependencies of soapbridge. */
interface OptionalFeature {
  /** The name of the feature in messages and in docs/optional-packages.md. */
  readonly name: string;
  /** The packages with the versions for `npm install`. */
  readonly packages: Readonly<Record<string, string>>;
}

/**
 * Features that need packages which `npm install soapbridge` does not install. docs/optional-packages.md has them as a
 * table.
 */
export const optionalFeatures = {
  patterns: {
    name: 'patterns of `validate: strict`, `operationNames` and `patches`',
    packages: { re2js: '2' },
  },
  patches: { name: '`patches` of a document (OpenAPI Overlays)', packages: { 'json-p3': '2' } },
  oauth: { name: '`upstream.oauth2` in soapbridge.yaml', packages: { oauth4webapi: '3' } },
  limitStore: {
    name: '`SOAPBRIDGE_LIMIT_STORE`',
    packages: { iovalkey: '0.4', 'rate-limiter-flexible': '11' },
  },
  store: { name: '`store` in soapbridge.yaml, for PostgreSQL', packages: { pg: '8' } },
  traces: {
    name: 'traces (`OTEL_EXPORTER_OTLP_ENDPOINT`)',
    packages: {
      '@opentelemetry/api': '1',
      '@opentelemetry/exporter-trace-otlp-http': '0',
      '@opentelemetry/resources': '2',
      '@opentelemetry/sdk-trace-node': '2',
    },
  },
  samples: { name: '`soapbridge map try`', packages: { ajv: '8' } },
} as const satisfies Readonly<Record<string, OptionalFeature>>;

export type OptionalFeatureName = keyof typeof optionalFeatures;

/**
 * Thrown if the packages of a used feature are not installed. The message has their names and the command to install
 * them.
 */
export class MissingPackageError extends RangeError {
  override readonly name = 'MissingPackageError';
}

/**
 * Returns a message if packages of a feature are not installed; undefined if all are.
 *
 * Example: `upstream.oauth2 in soapbridge.yaml: expected the package oauth4webapi, which is not installed. Install it
 * with: npm install oauth4webapi@3`
 */
export function missingPackages(feature: OptionalFeatureName): string | undefined {
  const { name, packages }: OptionalFeature = optionalFeatures[feature];
  const missing = Object.keys(packages).filter((each) => !isInstalled(each));
  if (missing.length === 0) return undefined;
  const [what, it, is] = missing.length === 1 ? ['package', 'it', 'is'] : ['packages', 'them', 'are'];
  return (
    `${name.replaceAll('`', '')}: expected the ${what} ${missing.join(', ')}, which ${is} not installed. ` +
    `Install ${it} with: npm install ${missing.map((each) => `${each}@${packages[each]}`).join(' ')} ` +
    '(docs/optional-packages.md lists the packages of all features)'
  );
}

/** Throws MissingPackageError if a package of the feature is not installed. */
export function requirePackages(feature: OptionalFeatureName): void {
  const message = missingPackages(feature);
  if (message !== undefined) throw new MissingPackageError(message);
}

/** Returns the module of a feature's package. Throws MissingPackageError if it is not installed. */
export function loadPackage(feature: OptionalFeatureName, name: string): unknown {
  requirePackages(feature);
  return require(name);
}

const require = createRequire(import.meta.url);

/** Packages that were found. Missing ones are checked again, because they may be installed before the next reload. */
const found = new Set<string>();

function isInstalled(name: string): boolean {
  if (found.has(name)) return true;
  try {
    import.meta.resolve(name);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return false;
    throw error;
  }
  found.add(name);
  return true;
}
