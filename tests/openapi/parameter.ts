/**
 * Parameters and headers: what a request to a route can have besides its body, and the headers of answers.
 */
import { boundRoutes, type BoundRoute } from '../docs/tables.ts';
import { answerSchema, ref, type Members } from './component.ts';

const text = { type: 'string' };

const pathParameters: Readonly<Record<string, Members>> = {
  name: { description: 'Name of the resource, with a hyphen for each white space character.', schema: text },
  listener: {
    description: 'Name of the listener, with a hyphen for each white space character.',
    schema: text,
  },
  id: { description: 'Id of the command in flight.', schema: text },
  node: { description: 'Name of the node. Upper and lower case differ.', schema: text },
  sessionId: { description: 'Id of the session.', schema: { type: 'integer', minimum: 0 } },
};

/** The parameters that operations share. The parameter `fields` differs from resource to resource. */
export const parameters: Members = {
  ...Object.fromEntries(
    Object.entries(pathParameters).map(([component, parameter]) => {
      const name = component === 'sessionId' ? 'id' : component;
      return [component, { name, in: 'path', required: true, ...parameter }];
    }),
  ),
  range: {
    name: 'range',
    in: 'query',
    description: 'The first and the last position of the wanted elements, counted from 0, both included.',
    schema: { ...text, pattern: '^\\d+-\\d+$' },
    example: '0-9',
  },
  may: {
    name: 'may',
    in: 'query',
    description:
      'With `true`, the answer also says which commands the caller may use on the resource now. Not together with `fields`.',
    schema: { ...text, enum: ['true', 'false'] },
    'x-addition': true,
  },
  dryRun: {
    name: 'dry_run',
    in: 'query',
    description: 'With `true`, nothing is changed, and the answer is the plan of the command.',
    schema: { ...text, enum: ['true', 'false'] },
    'x-addition': true,
  },
  mark: {
    name: 'mark',
    in: 'query',
    description:
      'The mark of a plan: the command does what that plan showed, or is refused with 412 and the plan of now.',
    schema: { ...text, pattern: '^[0-9a-f]{8}\\.[0-9a-f]{32}(\\.[0-9a-f]+\\.\\d+\\.\\d+)?$' },
    'x-addition': true,
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags. The request is refused if the resource has none of them.',
    schema: text,
    'x-addition': true,
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'Entity tags. If the representation has one of them, the answer to a read is 304, and a command is refused.',
    schema: text,
    'x-addition': true,
  },
  prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`return=representation`: a command that answers 204 says what was done instead. In a fleet, `wait=N`: the answer comes ' +
      'when the other nodes have followed, or N seconds are over (RFC 7240).',
    schema: text,
    example: 'wait=5',
    'x-addition': true,
  },
  after: {
    name: 'after',
    in: 'query',
    description: 'The id of the last event that the client knows. The stream goes on with the next event.',
    schema: text,
    'x-addition': true,
  },
  types: {
    name: 'types',
    in: 'query',
    description:
      'The types of events, or their first words, such as `service,server.updated`; all by default.',
    style: 'form',
    explode: false,
    schema: { type: 'array', minItems: 1, items: text },
    'x-addition': true,
  },
  lastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The same as `after`, which browsers send by themselves. It goes before `after`.',
    schema: text,
    'x-addition': true,
  },
  ...fieldParameters(),
};

/** The header that says which preferences were used. */
export const preferenceHeader: Members = {
  'Preference-Applied': { description: 'The preferences that were used.', schema: text },
};

/** The headers of the answer of a fleet to a change. */
export const fleetHeaders: Members = {
  'Fleet-Position': { description: 'In a fleet: the place of the change in the log.', schema: text },
  ...preferenceHeader,
  'Fleet-Applied': { description: 'After a wait: the nodes that have followed.', schema: text },
  'Fleet-Behind': { description: 'After a wait: the nodes that cannot follow at the moment.', schema: text },
  'Fleet-Waiting': { description: 'After a wait: the nodes that have not followed in time.', schema: text },
};

/** The headers of answers. */
export const headers: Members = {
  ETag: { description: 'What the representation stands for; of a session, its identity.', schema: text },
  Location: {
    description: 'The address of the new resource, relative to the address of the request.',
    schema: text,
  },
  'X-Total-Count': {
    description: 'Number of elements of the whole list.',
    schema: { type: 'integer', minimum: 0 },
  },
  Link: { description: 'The neighbouring ranges, as `next` and `prev` (RFC 8288).', schema: text },
  'Retry-After': {
    description: 'Seconds after which the request can succeed.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'The way to log in.', schema: text },
  Accept: { description: 'The media type that the body must have.', schema: text },
  'X-Accel-Buffering': { description: 'Tells a proxy not to hold the events back.', schema: text },
  'Accept-Patch': { description: 'The media type that the patch must have.', schema: text },
  'Fleet-Node': { description: 'In a fleet: the name of the node that answers.', schema: text },
  ...fleetHeaders,
};

/** The parameters of a route. */
export function parametersOf(route: BoundRoute): readonly Members[] {
  const { path, query, search } = route;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    path.startsWith('/sessions/') ? 'sessionId' : name,
  );
  const shared = [
    ...inPath,
    ...(query.includes('range') ? ['range'] : []),
    ...(query.includes('fields') ? [fieldsName(route)] : []),
    ...(query.includes('may') ? ['may'] : []),
    ...(query.includes('dry_run') ? ['dryRun', 'mark'] : []),
    ...conditionOf(route),
  ];
  const own = search.map((name) => ownParameters[name] ?? searchParameter(name, route));
  return [...shared.map((name) => ref('parameters', name)), ...own];
}

/** The header that makes a request conditional, or that continues a stream. */
function conditionOf(route: BoundRoute): readonly string[] {
  if (route.kind === 'command') return ['ifMatch', 'ifNoneMatch', 'prefer'];
  if (route.kind === 'stream') return ['after', 'types', 'lastEventId'];
  if (route.kind === 'probe') return [];
  return route.validator === undefined ? ['ifMatch'] : ['ifMatch', 'ifNoneMatch'];
}

const word: Members = { ...text, enum: ['true', 'false'] };
const amount: Members = { type: 'number', minimum: 0 };

/** The parameters with a value of their own kind. */
const ownParameters: Readonly<Record<string, Members>> = {
  detach: inQuery(
    'detach',
    'With `true`, the resource is taken out of the lists of all others first, in the same command.',
    word,
  ),
  all: inQuery('all', 'With `true`, and without any other criterion, all sessions are closed.', word),
  after: inQuery(
    'after',
    'The pages begin with the first session whose id is greater. There need be no session with this id.',
    { type: 'integer', minimum: 0 },
  ),
  idle_over: inQuery('idle_over', 'Only sessions that have been idle for longer.', amount),
  older_than: inQuery(
    'older_than',
    'Only sessions whose client has been connected for more seconds.',
    amount,
  ),
};

function inQuery(name: string, description: string, schema: Members): Members {
  return { name, in: 'query', description, schema, 'x-addition': true };
}

function searchParameter(name: string, { kind }: BoundRoute): Members {
  const verb = kind === 'command' ? 'Closes' : 'Gives';
  const what = kind === 'command' ? 'sessions' : 'elements';
  return inQuery(name, `${verb} only the ${what} with this \`${name}\`.`, text);
}

/** The name of the parameter `fields` of a route: `fieldsOfService` for the routes that show a service. */
function fieldsName(route: BoundRoute): string {
  if (route.kind !== 'item' && route.kind !== 'list') return '';
  return `fieldsOf${String(answerSchema(route.shape)['$ref']).replace(/.*\//, '')}`;
}

function fieldParameters(): Members {
  const selecting = boundRoutes.filter(({ query }) => query.includes('fields'));
  return Object.fromEntries(
    selecting.map((route) => [
      fieldsName(route),
      {
        name: 'fields',
        in: 'query',
        description: 'The fields to show; all fields by default.',
        style: 'form',
        explode: false,
        schema: { type: 'array', minItems: 1, items: { ...text, enum: route.fields } },
      },
    ]),
  );
}
