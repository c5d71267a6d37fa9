/**
 * The fields of each kind of resource, for the forms of the console: from the descriptions in `openapi.json`.
 */
import { readFileSync } from 'node:fs';

const { schemas } = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')).components;

/** The kinds with forms, by their collections, and the beginning of the names of their schemas. */
const kinds = {
  services: 'Service',
  servers: 'Server',
  monitors: 'Monitor',
  filters: 'Filter',
  listeners: 'Listener',
};

/** What acts change, and no form. */
const changedByActs = ['drain', 'state', 'status'];

/** The types of inputs, by the types of fields. */
const inputTypes = { flag: 'choice', names: 'links', words: 'text', map: 'long' };

/** The fields by collection, with how the values of each type are typed. */
export function fieldsOfKinds(formats) {
  return Object.fromEntries(
    Object.entries(kinds).map(([collection, kind]) => {
      const definition = schemas[`${kind}Definition`];
      const shown = schemas[kind].properties;
      const all = { ...definition.properties, ...shown };
      const patch = schemas[`${kind}Patch`];
      const settable =
        patch === undefined ? [] : settableIn(patch).filter((name) => !changedByActs.includes(name));
      return [
        collection,
        Object.entries(all)
          .map(([name, schema]) => ({
            name,
            does: schema.description,
            ...typeOf(schema),
            isSettable: settable.includes(name),
            ...(isDefined(name, definition) && {
              inDefinition: definition.required.includes(name) ? 'required' : 'optional',
            }),
            ...(!(name in shown) && schema.type === 'string' && { isSecret: true }),
          }))
          .map((field) => ({ ...field, input: inputOf(field, formats) })),
      ];
    }),
  );
}

/** How a form asks for a field. What is not chosen is left out. */
function inputOf({ name, does, type, choices, isSecret, inDefinition }, formats) {
  // Nothing begins as failed.
  const values = type === 'flag' ? ['true', 'false'] : choices?.filter((each) => each !== 'failed');
  const format = isSecret ? formats.secret : formats[type];
  return {
    name,
    label: name,
    isRequired: inDefinition === 'required',
    hint: format === undefined ? does : `${does} ${format}`,
    type: isSecret ? 'password' : (inputTypes[type] ?? type),
    choices: values && ['', ...values].map((each) => [each, each]),
  };
}

/** The fields that operations of a patch may set. */
function settableIn({ items }) {
  const { op, path } = items.anyOf[0].properties;
  if (!op.enum.includes('add')) throw new Error('The first operation of the schema of a patch sets nothing');
  return path.pattern.match(/^\^\/\(\?:(.*?)\)/)[1].split('|');
}

function typeOf({ type, enum: choices, items, format, additionalProperties }) {
  if (choices !== undefined) return { type: 'choice', choices };
  if (type === 'integer' || type === 'number') return { type: 'number' };
  if (type === 'boolean') return { type: 'flag' };
  if (type === 'array') return { type: items.enum === undefined && format === undefined ? 'names' : 'words' };
  if (type !== 'object') return { type: 'text' };
  const values = { string: 'texts', object: 'parameters' }[additionalProperties?.type];
  return values === undefined ? { type: 'map' } : { type: 'map', values };
}

/** Whether a form for a new resource asks for the field. Listeners have a form of their own. */
function isDefined(name, { properties }) {
  const { type, anyOf } = properties[name] ?? {};
  return (type ?? anyOf) !== undefined && !['listeners', 'status'].includes(name);
}
