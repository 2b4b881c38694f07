import {
  choice,
  flag,
  keyword,
  list,
  map,
  named,
  type RecordSetting,
  record,
  type Setting,
  text,
  value,
} from '../contract/setting.ts';

/**
 * The notation of `mapping.yaml` (M1, M2, M4, M5) as data. The reader and the JSON Schema for editors are derived from
 * this definition.
 */

const path = (description: string) => text(description, 'a path such as a.b, a[0] or a[k=v]', /./);

const conditions = map(
  'What has to hold: by source path `present`, `absent`, a text, or a list of texts of which one it is.',
  '`path: value`',
  value('`present`, `absent`, a value, or a list of values.'),
);

const group: Setting = named('group', 'Rules by the target path that each fills.', () =>
  map('Rules by the target path that each fills.', '`target: rule`', rule),
);

/** Keywords of a rule that is an object. */
export const ruleKeys = {
  from: path('The source path.'),
  const: value('A constant. Quote a number of more than 15 digits.'),
  header: text("The value of an HTTP header of the answer, by the header's name."),
  uuid: flag('`true`: a new UUID for each call, such as for `Idempotency-Key`.'),
  each: path('A list of the source: each item gives one of the target, by `map` or `auto`.'),
  list: named('items', 'A list of these items.', () =>
    list('A list of these items, each a group of rules or a rule.', 'items', rule),
  ),
  map: group,
  auto: keyword('`same`: every path that both sides have and of one kind.', 'same'),
  values: map(
    'A table: the value of the target by the value of the source.',
    '`source: target`',
    value('The value there.'),
  ),
  default: value('The value where the source has none, or one that `values` lacks.'),
  as: keyword(
    'Makes a text, a number, true or false of a value; `first` the first of a list; `list` a list of one.',
    'text',
    'number',
    'boolean',
    'first',
    'list',
  ),
  date: list(
    'Two patterns of YYYY, MM, DD, hh, mm, ss and Z: how the source writes a date, and how the target does.',
    'two patterns',
    text('A pattern, such as YYYY-MM-DD.'),
  ),
  join: text('Joins a list of texts by this separator.', 'a separator', /./s),
  split: text('Splits a text by this separator into a list.', 'a separator', /./s),
  when: conditions,
  else: named('else', 'The rule that counts where this one gives nothing.', () => rule),
  code: text(
    'The function of the module that `code` of the operation names, which gets the value.',
    'the name of a function',
    /^[A-Za-z_$][\w$]*$/,
  ),
} as const satisfies Readonly<Record<string, Setting>>;

const fullRule: RecordSetting = {
  ...record('How a value of the target comes about.', ruleKeys),
  // An object with other keys only is a group: rules below the target path of the group.
  distinctKeys: Object.keys(ruleKeys),
};

const rule: Setting = named('rule', 'Where a value of the target comes from.', () =>
  choice(
    'A source path, words that say more, or rules for what is in it.',
    path('The source path.'),
    fullRule,
    group,
  ),
);

const fault = record('When an error answer is this fault, and how its detail is made.', {
  when: map(
    'Conditions on the error answer: by source path, `status` or `header.x`. Without it the fault is for each error answer.',
    '`path: value`',
    value('`present`, `absent`, a value, or a list of values.'),
  ),
  map: map(
    'Rules by the path in the detail of the fault; `"@message"` is the text of the fault.',
    '`target: rule`',
    rule,
  ),
});

/** An entry of an operation. */
const entry = record('How one operation of the WSDL is answered.', {
  when: conditions, // relative to the body
  forEach: path('A list of the request: one call for each item, where source paths then begin.'),
  call: map(
    'The operation of the OpenAPI document: its method and its path.',
    '`METHOD: /path`',
    text('The path as the document has it.', 'a path of the document', /^\//),
  ),
  at: path('Where source paths of the request begin.'),
  to: path('Where target paths begin in the body of the call.'),
  from: path('Where source paths begin in the answer.'),
  auto: keyword('`same`: every path of the request that both documents have and of one kind.', 'same'),
  autoReply: keyword('The same for the reply.', 'same'),
  request: map(
    'Rules by target path: of the body, or `path.x`, `query.x`, `header.x`.',
    '`target: rule`',
    rule,
  ),
  omit: list(
    'Members of the request that are left out, on purpose.',
    'paths',
    path('A path from the beginning of the body on.'),
  ),
  reply: map('Rules by path of the reply.', '`target: rule`', rule),
  error: map(
    "Rules by path of the reply for an item whose call didn't go well (`forEach`).",
    '`target: rule`',
    rule,
  ),
  fault: map(
    'Declared faults by their names. The first whose `when` holds answers a call that failed.',
    '`fault: { when, map }`',
    choice(
      'When an error answer is this fault; of several the first whose `when` holds.',
      list('Of several the first whose `when` holds.', 'ways to make the fault', fault),
      fault,
    ),
  ),
  code: text(
    'The module with the functions that rules name, from the folder of this file on.',
    'a path such as ./ship.ts',
    /\.(?:ts|js)$/,
  ),
});

/** A whole `mapping.yaml`. */
export const mappingSettings = map(
  'Which operation of the OpenAPI document answers each operation of the WSDL, and how.',
  '`operation: how it is answered`',
  choice(
    'How the operation is answered; of several the first whose `when` holds.',
    list('Of several the first whose `when` holds.', 'ways to answer', entry),
    entry,
  ),
);
