// Types for merge patches (RFC 7396): no member is required, and each may be null.
import type { RecordType, Ruled, Rules, Type, UnionType, Variant } from '../../contract/model.ts';
import type { Located } from '../document/references.ts';
import type { Draft, FieldDraft } from './drafts.ts';
import { setAdditionalProperties, setFields } from './fields.ts';
import type { SchemaContext } from './schema-context.ts';

/** Creates the patch type of each type once. */
export class MergePatches {
  readonly #context: SchemaContext;
  readonly #made = new Map<Type, RecordType | UnionType>();

  constructor(context: SchemaContext) {
    this.#context = context;
  }

  /**
   * Returns the patch type of a filled type; the type itself if its patches have the same structure.
   *
   * @param own schemas that no other operation uses, so that their patch types keep their names; others are named
   *   `{Type}Patch`
   */
  patchOf(type: Type, own: readonly Located[]): Type {
    const { drafts } = this.#context;
    if (type.kind === 'map') return drafts.collections.mapOf(this.patchOf(type.value, own), true);
    if (type.kind !== 'record' && type.kind !== 'union') return type;
    const known = this.#made.get(type);
    if (known !== undefined) return known;
    const pointer = drafts.pointerOf(type);
    const isOwn = own.some((part) => `${pointer}/`.startsWith(`${part.pointer}/`));
    const name = isOwn ? type.name : `${type.name}Patch`;
    return type.kind === 'record'
      ? this.#recordPatch(type, name, pointer, own)
      : this.#unionPatch(type, name, pointer, own);
  }

  #recordPatch(type: RecordType, name: string, pointer: string, own: readonly Located[]): RecordType {
    const { drafts, references, overlay } = this.#context;
    const { documentation, additional: others } = type;
    references.allowance.step(pointer, type.fields.length);
    const fields: FieldDraft[] = [];
    const patch: Draft<RecordType> = { kind: 'record', name, documentation, fields };
    this.#made.set(type, drafts.register(patch, pointer));
    const ofFields = (drafts.facts.get(type)?.ofFields ?? []).map(({ field, hasDefault }) => ({
      field: { ...field, ...ruledPatch(field), type: this.patchOf(field.type, own), required: false },
      nullable: true,
      hasDefault,
    }));
    setFields(drafts, overlay, patch, fields, ofFields);
    if (others !== undefined) {
      const values = drafts.collections.mapOf(this.patchOf(others.typed.type.value, own), true);
      setAdditionalProperties(
        drafts,
        patch,
        { ...others.typed, ...ruledPatch(others.typed), type: values },
        others.untyped?.type,
      );
    }
    return patch;
  }

  #unionPatch(type: UnionType, name: string, pointer: string, own: readonly Located[]): UnionType {
    const { drafts, references } = this.#context;
    references.allowance.step(pointer, type.variants.length);
    const variants: Draft<Variant>[] = [];
    const patch: UnionType = { ...type, name, variants };
    this.#made.set(type, drafts.register(patch, pointer));
    for (const variant of type.variants)
      variants.push({ ...variant, ...ruledPatch(variant), type: this.patchOf(variant.type, own) });
    const elements = (drafts.elements.get(type) ?? []).map((element, index) => ({
      ...element,
      set: (xml: string) => {
        const variant = variants[index];
        if (variant !== undefined) variant.xml = xml;
      },
    }));
    drafts.elements.set(patch, elements);
    return patch;
  }
}

/**
 * Returns the rules of a patch without member counts. A null removes a member and absent members are unchanged, so the
 * members cannot be counted.
 */
function ruledPatch({ rules }: Ruled): Ruled {
  return rules === undefined ? {} : { rules: uncounted(rules) };
}

function uncounted({ checks, items, values }: Rules): Rules {
  return {
    checks: checks.filter(({ kind }) => kind !== 'members'),
    items,
    values: values && uncounted(values),
  };
}
