import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import type { TypeRef } from '../../description.ts';
import { emptySlot, type Form, givenValue, type Member, type Slot, typeOf, type Value } from './model.ts';

/** Context shared by all fields of a form. */
export interface Fields {
  readonly form: Form;
  readonly say: (key: string, values?: Readonly<Record<string, string>>) => string;
  /** Called after every change. */
  readonly changed: () => void;
}

/** Returns one field per member of a record. */
export function memberFields(fields: Fields, members: readonly Member[], path: string): ComponentChildren {
  return members.map((member) => memberField(fields, member, `${path}.${member.xml}`));
}

function memberField(fields: Fields, member: Member, path: string): ComponentChildren {
  const { xml, type, slot, described } = member;
  const mayBeAbsent = described?.required !== true;
  return slotField(fields, { label: xml, type, slot, path, mayBeAbsent, described });
}

interface SlotField {
  readonly label: string;
  readonly type: TypeRef;
  readonly slot: Slot;
  readonly path: string;
  readonly mayBeAbsent: boolean;
  readonly described?: Member['described'];
  /** Removes the value, for example a list item. */
  readonly remove?: () => void;
}

/** Returns the field of one slot: its state (absent, given or nil) and its value. */
function slotField(fields: Fields, field: SlotField): ComponentChildren {
  const { form } = fields;
  const { label, type, slot, path, described } = field;
  const isText = slot.state === 'given' && givenValue(form, slot, type).kind === 'text';
  const id = `f${path}`;
  const hint = [described?.description, described?.facts].filter((text) => text !== undefined).join(' ');
  const head = html`${stateSelect(fields, field, `${id}-state`)}${removeButton(fields, field)}`;
  if (isText || slot.state !== 'given') {
    return html`<div class="field" key=${path}>
      <label for=${isText ? id : `${id}-state`} dir="auto"><code>${label}</code>
        ${described?.required === true && html` <span class="badge required">*</span>`}</label>
      <div class="line">${isText && textInput(fields, field, id)}${head}</div>
      ${hint !== '' && html`<div class="facts" dir="auto">${hint}</div>`}
    </div>`;
  }
  return html`<fieldset key=${path}>
    <legend dir="auto"><code>${label}</code></legend>
    <div class="line">${head}</div>
    ${hint !== '' && html`<div class="facts" dir="auto">${hint}</div>`}
    ${valueFields(fields, field)}
  </fieldset>`;
}

function stateSelect(
  { say, changed }: Fields,
  { slot, label, mayBeAbsent, described }: SlotField,
  id: string,
): ComponentChildren {
  const states: Slot['state'][] = ['given'];
  if (mayBeAbsent) states.unshift('absent');
  if (described === undefined || described.nillable === true || slot.state === 'nil') states.push('nil');
  if (states.length === 1) return undefined;
  const onChange = (event: Event): void => {
    slot.state = (event.target as HTMLSelectElement).value as Slot['state'];
    changed();
  };
  return html`<select id=${id} aria-label=${`${label}: ${states.map((state) => say(`try.${state}`)).join(' / ')}`} value=${slot.state} onChange=${onChange}>
    ${states.map((state) => html`<option value=${state} selected=${state === slot.state}>${say(`try.${state}`)}</option>`)}
  </select>`;
}

function removeButton({ say }: Fields, { label, remove }: SlotField): ComponentChildren {
  if (remove === undefined) return undefined;
  const text = say('try.remove', { name: label });
  return html`<button type="button" aria-label=${text} title=${text} onClick=${remove}>✕</button>`;
}

/** Returns the input of a text value. Its kind depends on the type, so that mobile browsers show the right keyboard. */
function textInput(
  fields: Fields,
  { type, slot, label, described }: SlotField,
  id: string,
): ComponentChildren {
  const { form, say, changed } = fields;
  const value = givenValue(form, slot, type);
  if (value.kind !== 'text') return undefined;
  const set = (text: string): void => {
    value.text = text;
    changed();
  };
  const onInput = (event: Event): void => set((event.target as HTMLInputElement).value);
  const named = typeOf(form, type);
  const values = described?.values ?? (named?.kind === 'enum' ? named.values : undefined);
  const scalar = 'scalar' in type ? type.scalar : 'string';
  const choices = values ?? (scalar === 'boolean' ? ['true', 'false'] : undefined);
  if (choices !== undefined) {
    const all = choices.includes(value.text) ? choices : [value.text, ...choices];
    return html`<select id=${id} value=${value.text} onChange=${onInput}>
      ${all.map((each) => html`<option value=${each} selected=${each === value.text}>${each}</option>`)}
    </select>`;
  }
  if (scalar === 'base64Binary') {
    const onFile = async (event: Event): Promise<void> => {
      const file = (event.target as HTMLInputElement).files?.[0];
      if (file !== undefined) set(base64Of(new Uint8Array(await file.arrayBuffer())));
    };
    return html`<textarea id=${id} rows="2" spellcheck="false" value=${value.text} onInput=${onInput}></textarea>
      <input type="file" aria-label=${`${label}: ${say('try.file')}`} onChange=${onFile} />`;
  }
  if ('json' in type && type.json === 'any')
    return html`<textarea id=${id} rows="3" spellcheck="false" value=${value.text} onInput=${onInput}></textarea>`;
  const isNumber = 'json' in type && (type.json === 'integer' || type.json === 'number');
  return html`<input
    id=${id}
    type=${scalar === 'date' ? 'date' : 'text'}
    inputmode=${isNumber ? 'decimal' : 'text'}
    placeholder=${scalar === 'dateTime' ? '2026-01-31T12:00:00Z' : ''}
    autocomplete="off"
    spellcheck=${false}
    value=${value.text}
    onInput=${onInput}
  />`;
}

function base64Of(bytes: Uint8Array): string {
  let text = '';
  // in chunks, because the number of arguments of a call is limited
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** Returns the fields of a value's parts, or undefined for a text. */
function valueFields(fields: Fields, field: SlotField): ComponentChildren {
  const value = givenValue(fields.form, field.slot, field.type);
  switch (value.kind) {
    case 'text':
      return undefined;
    case 'record':
      return memberFields(fields, value.members, field.path);
    case 'union':
      return unionFields(fields, field, value);
    case 'list':
      return listFields(fields, field, value);
    case 'map':
      return mapFields(fields, field, value);
  }
}

type ValueOf<Kind extends Value['kind']> = Extract<Value, { readonly kind: Kind }>;

function unionFields(fields: Fields, { path }: SlotField, value: ValueOf<'union'>): ComponentChildren {
  const { say, changed } = fields;
  const onChange = (event: Event): void => {
    value.chosen = Number((event.target as HTMLSelectElement).value);
    changed();
  };
  const chosen = value.variants[value.chosen];
  return html`<div class="field">
      <label for=${`f${path}-which`}>${say('try.variant')}</label>
      <select id=${`f${path}-which`} value=${String(value.chosen)} onChange=${onChange}>
        ${value.variants.map(({ xml }, at) => html`<option value=${String(at)} selected=${at === value.chosen}>${xml}</option>`)}
      </select>
    </div>
    ${chosen !== undefined && slotField(fields, { label: chosen.xml, type: chosen.type, slot: chosen.slot, path: `${path}.${chosen.xml}`, mayBeAbsent: false, described: chosen.described })}`;
}

function listFields(fields: Fields, { label, path }: SlotField, value: ValueOf<'list'>): ComponentChildren {
  const { say, changed } = fields;
  const add = (): void => {
    value.items.push(emptySlot('given'));
    changed();
  };
  return html`${value.items.map((item, at) =>
    slotField(fields, {
      label: `${value.item} ${at + 1}`,
      type: value.type,
      slot: item,
      path: `${path}.${at}`,
      mayBeAbsent: false,
      remove: () => {
        value.items.splice(at, 1);
        changed();
      },
    }),
  )}
    <button type="button" onClick=${add}>${say('try.add', { name: value.item })}<span class="hidden"> (${label})</span></button>`;
}

function mapFields(fields: Fields, { label, path }: SlotField, value: ValueOf<'map'>): ComponentChildren {
  const { say, changed } = fields;
  const add = (): void => {
    value.entries.push({ key: '', slot: emptySlot('given') });
    changed();
  };
  return html`${value.entries.map((entry, at) => {
    const setKey = (event: Event): void => {
      entry.key = (event.target as HTMLInputElement).value;
      changed();
    };
    return html`<div class="field" key=${`${path}.${at}`}>
      <label for=${`f${path}.${at}-key`}>${say('try.key')} ${at + 1}</label>
      <input id=${`f${path}.${at}-key`} value=${entry.key} autocomplete="off" onInput=${setKey} />
      ${slotField(fields, {
        label: `${say('try.value')} ${at + 1}`,
        type: value.type,
        slot: entry.slot,
        path: `${path}.${at}.value`,
        mayBeAbsent: false,
        remove: () => {
          value.entries.splice(at, 1);
          changed();
        },
      })}
    </div>`;
  })}
    <button type="button" onClick=${add}>${say('try.add', { name: value.entry })}<span class="hidden"> (${label})</span></button>`;
}
