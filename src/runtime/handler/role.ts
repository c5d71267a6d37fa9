/**
 * Roles: a ready-made `authorize` from lists of user names. The table of routes says which role an endpoint needs.
 */
import { assertMembers } from '../../core/member.ts';
import { nameFault, nameKey } from '../../core/name.ts';
import type { Principal } from '../../http/message.ts';
import { roles, type Role } from '../../http/route.ts';
import { quoted } from '../../problem.ts';
import { isObject } from '../host/check.ts';
import type { Authorize } from '../../ports/port.ts';

/**
 * The users of each role, for {@link createRoles}.
 *
 * @public
 */
export interface RolesOptions {
  /** Names of the users who may use every endpoint. Nobody by default. */
  readonly administrators?: readonly string[];
  /** Names of the users who may use the endpoints of the roles `operator` and `reader`. Nobody by default. */
  readonly operators?: readonly string[];
  /** Names of the users who may only read and plan. Nobody by default. */
  readonly readers?: readonly string[];
  /** What every other user who has logged in may do: `none`, which is the default, or `reader`. */
  readonly others?: 'none' | 'reader';
}

/** The list of each role in the options. */
const lists = {
  administrators: 'administrator',
  operators: 'operator',
  readers: 'reader',
} as const satisfies Record<Exclude<keyof RolesOptions, 'others'>, Role>;

/**
 * Creates a rule for the option `access.authorize` from lists of user names. {@link Route.role} says which role an
 * endpoint needs.
 *
 * A caller who has not logged in may do nothing, whatever `others` says. Names are compared by their key (see
 * {@link nameKey}), so `Ada` and `ada` are one user.
 *
 * @param options - the names of the users of each role. Later changes of the lists have no effect
 * @returns the rule
 * @throws TypeError if the options have an unknown member, a list is no list of strings, or `others` has another value
 * @throws RangeError if a name has two roles, or is no name
 *
 * @example
 * ```ts
 * import { createRoles, routes } from 'gateway-admin-core';
 *
 * const authorize = createRoles({ administrators: ['ada'], operators: ['bob'] });
 * const stop = routes.find(({ id }) => id === 'services.stop');
 * stop && authorize({ name: 'Bob' }, stop, { name: 'sales' }); // => true
 * stop && authorize({ name: 'eve' }, stop, { name: 'sales' }); // => false
 * ```
 *
 * @see docs/spec-choices.md 32.
 *
 * @public
 */
export function createRoles(options: RolesOptions): Authorize {
  assertOptions(options);
  const given = rolesByKey(options);
  const others = options.others === 'reader' ? 'reader' : undefined;
  const roleOf = ({ name }: Principal): Role | undefined => given.get(keyOf(name)) ?? others;
  const authorize: Authorize = (principal, route, _parameters, how) => {
    if (principal === undefined) return false;
    // Who may read may plan: a dry run changes nothing, and shows what reading shows.
    const needed = how?.dryRun === true ? 'reader' : route.role;
    const role = roleOf(principal);
    return role !== undefined && roles.slice(0, roles.indexOf(role) + 1).includes(needed);
  };
  return Object.assign(authorize, { roleOf });
}

/** @throws RangeError if a name has two roles, or is no name */
function rolesByKey(options: RolesOptions): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>();
  for (const list of Object.keys(lists) as (keyof typeof lists)[]) {
    for (const name of options[list] ?? []) {
      const fault = nameFault(name);
      if (fault !== undefined) throw new RangeError(`The name ${quoted(name)} in ${list} ${fault}.`);
      const before = roles.get(keyOf(name));
      if (before !== undefined && before !== lists[list]) throw new RangeError(twice(name, list, before));
      roles.set(keyOf(name), lists[list]);
    }
  }
  return roles;
}

function twice(name: string, list: keyof typeof lists, before: Role): string {
  return (
    `The user ${quoted(name)} in ${list} has the role ${before} already. Give each user one role: an administrator may do ` +
    'what an operator may do, and an operator may read. Names are compared without case.'
  );
}

/**
 * The key of a user. A name of other letters that only folds to ASCII, as the Kelvin sign folds to a "k", is another
 * user: whoever may choose such a name must not get the role of somebody else.
 */
function keyOf(name: string): string {
  const key = nameKey(name);
  return isAscii(key) && !isAscii(name) ? name : key;
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}

/** @throws TypeError for an unknown member, and for a member of a wrong type */
function assertOptions(options: unknown): asserts options is RolesOptions {
  if (!isObject(options) || Array.isArray(options))
    throw new TypeError("createRoles needs lists of user names, such as { administrators: ['ada'] }");
  assertMembers(options, [...Object.keys(lists), 'others'], 'option of createRoles');
  for (const list of Object.keys(lists)) {
    const names = options[list];
    if (names !== undefined && !(Array.isArray(names) && names.every((name) => typeof name === 'string')))
      throw new TypeError(`The list ${list} of createRoles must be a list of user names, such as ['ada']`);
  }
  if (!['none', 'reader', undefined].includes(options['others'] as string | undefined))
    throw new TypeError("others must be 'none' or 'reader'");
}
