import type { Setting } from '../../mappings/contract/setting.ts';
import { pointerSegment } from '../../mappings/loader/document/error.ts';
import { isNode } from '../../mappings/loader/document/node.ts';

/** A setting as operators may see it, without secrets. */
export interface ShownSetting {
  /** Name of an option, `limits.` and a limit, or the JSON pointer of a value in the configuration file. */
  readonly name: string;
  readonly value: unknown;
  /**
   * `default`, `flag`, `environment`, `argument` (the contract by position), `contract` (the first server of its
   * document), or the path of the configuration file.
   */
  readonly source: string;
}

const hidden = '***';

/** Replaces user and password of a URL by `***`. */
export function withoutUserinfo(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/(\/\/)[^/?#\s]*@/g, `$1${hidden}@`) : value;
}

/** Returns all values of a settings file. Secrets are replaced by `***`. The value must match the setting. */
export function shownSettings(
  setting: Setting,
  value: unknown,
  source: string,
  pointer = '',
): readonly ShownSetting[] {
  const inner = (of: Setting | undefined, key: string, each: unknown): readonly ShownSetting[] =>
    of === undefined ? [] : shownSettings(of, each, source, pointer + pointerSegment(key));
  switch (setting.kind) {
    case 'record':
    case 'map': {
      const of = (key: string): Setting | undefined =>
        setting.kind === 'map' ? setting.of : setting.keys[key];
      return isNode(value) ? Object.entries(value).flatMap(([key, each]) => inner(of(key), key, each)) : [];
    }
    case 'choice': {
      const isObject = isNode(value);
      const of = setting.of.find(({ kind }) => isObject === (kind === 'record' || kind === 'map'));
      return of === undefined ? [] : shownSettings(of, value, source, pointer);
    }
    case 'value': {
      // The name of the file with a secret is no secret.
      const isSecret = setting.isSecret === true && typeof value === 'string';
      return [{ name: pointer, value: isSecret ? hidden : value, source }];
    }
    default:
      return [{ name: pointer, value: withoutUserinfo(value), source }];
  }
}
