import { realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Allowance } from './allowance.ts';
import type { ContractProblem } from './error.ts';
import { isNode, memberOf, textsOf } from './node.ts';
import { applyPatches, extendsOf, isPatch, type Patched } from './patches.ts';
import { readYamlFile, withLines, type YamlFile } from './yaml.ts';

/**
 * The OpenAPI Overlays that a contract's overlay lists as `patches`. Each changes one file: the document, or the file
 * that its `extends` names by a relative path.
 */
export class PatchFiles {
  readonly #problems: ContractProblem[];
  readonly #allowance: Allowance;
  /** Patches by the real path of the file that they change. */
  readonly #patches = new Map<string, YamlFile[]>();
  readonly #applied = new Map<string, Patched>();

  /** Reads the patches. Unreadable patches and later errors are added to the problems. */
  constructor(overlay: YamlFile, document: string, problems: ContractProblem[], allowance: Allowance) {
    this.#problems = problems;
    this.#allowance = allowance;
    if (isPatch(overlay.root)) {
      const message = `expected the overlay of soapbridge, got an OpenAPI Overlay. List it in an overlay: \`patches: [${basename(overlay.path)}]\``;
      problems.push({ file: overlay.path, pointer: '', message });
    }
    // Any other value is reported with the other keys of the overlay.
    const named = isNode(overlay.root) ? textsOf(memberOf(overlay.root, 'patches')) : undefined;
    for (const name of named ?? []) {
      const file = readYamlFile(resolve(dirname(overlay.path), name), problems, allowance);
      if (file === undefined) continue;
      const target = realPath(targetOf(file, document));
      this.#patches.set(target, [...(this.#patches.get(target) ?? []), file]);
    }
  }

  /** Applies the patches of a file and returns its root. */
  apply({ path, root }: YamlFile): unknown {
    const target = realPath(path);
    const patches = this.#patches.get(target);
    if (patches === undefined) return root;
    const problems: ContractProblem[] = [];
    const reportTo = (file: string) => (pointer: string, message: string) => {
      problems.push({ file, pointer, message });
    };
    const patched = applyPatches(root, basename(path), patches, reportTo, this.#allowance);
    this.#applied.set(target, patched);
    this.#problems.push(...problems.slice(0, this.#allowance.limits.contractProblems));
    return patched.root;
  }

  /** Adds a problem for each patch of a file that was not read. Call it after all files are read. */
  finish(): void {
    for (const [target, patches] of this.#patches) {
      if (this.#applied.has(target)) continue;
      for (const { path } of patches) {
        const message = `expected the document or a file that it references, got ${target}`;
        this.#problems.push({ file: path, pointer: '/extends', message });
      }
    }
  }

  /** Adds the location of the patch to each problem of a patched value. */
  explain(problems: readonly ContractProblem[]): readonly ContractProblem[] {
    if (this.#applied.size === 0) return problems;
    return problems.map((problem) => {
      const place = this.#applied.get(realPath(problem.file))?.placeOf(problem.pointer);
      if (place === undefined) return problem;
      const [{ line } = { line: undefined }] = withLines([
        { file: place.path, pointer: place.pointer, message: '' },
      ]);
      const at = `${place.path}${line === undefined ? '' : `:${line}`}#${place.pointer}`;
      return { ...problem, message: `${problem.message} (patched by ${at})` };
    });
  }
}

/**
 * Returns the file that a patch changes: the relative path in `extends`; the document if `extends` is a URL or missing.
 */
function targetOf(file: YamlFile, document: string): string {
  const named = extendsOf(file);
  if (named === undefined || /^[a-z][a-z0-9+.-]+:/i.test(named)) return document;
  return resolve(dirname(file.path), named);
}

/** Returns a path with its links resolved. If the path does not exist, returns it as an absolute path. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return resolve(path);
    throw error;
  }
}
