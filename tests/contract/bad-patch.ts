/**
 * Patches that are refused for what they would do.
 */
import { noPatches, patches, service, type BadInput } from '../support/input.ts';

const grown = Array.from({ length: 20 }, (_, n) => `copy /router_options /router_options/c${String(n)}`).join(
  '|',
);
const [server, monitor, filter] = ['/servers/db-serv-1', '/monitor/Main-Monitor', '/filter/Hint'];

/** Refused by the rules, in applying, or for the result. */
export const badPatches: readonly BadInput[] = [
  ...patches('422 op-not-allowed', service, {
    'remove ': ['0 '],
    'replace  {"user":"x"}': ['0 '],
    'test  {}': ['0 '],
    'add /user "x"|copy  /router_options/a': ['1 '],
    'move /router_options /router_options/weights': ['0 /router_options/weights'],
    'move /servers /servers/0': ['0 /servers/0'],
  }),
  ...patches('422 reserved-key', service, {
    'add /__proto__ {"polluted":1}': ['0 /__proto__'],
    'add /router_options/__proto__ "x"': ['0 /router_options/__proto__'],
    'add /router_options/constructor/prototype/polluted "x"': [
      '0 /router_options/constructor/prototype/polluted',
    ],
    'test /constructor/name "Object"': ['0 /constructor/name'],
    'copy /__proto__ /user': ['0 /__proto__'],
    'move /router_options/prototype /user': ['0 /router_options/prototype'],
    'add /router_options {"__proto__":{"polluted":"1"}}': ['0 /router_options/__proto__'],
    'replace /router_options {"a":"b","constructor":"1"}': ['0 /router_options/constructor'],
    'test /router_options {"a":[{"prototype":1}]}': ['0 /router_options/a/0/prototype'],
    'add /user "x"|remove /router_options/__proto__': ['1 /router_options/__proto__'],
  }),
  ...noPatches('422 reserved-key', {
    [String.raw`[{"op":"add","path":"/\u005f_proto__/polluted","value":1}]`]: ['0 /__proto__/polluted'],
    [String.raw`[{"op":"add","path":"/router_options","value":{"\u005f_proto\u005f_":{}}}]`]: [
      '0 /router_options/__proto__',
    ],
  }),
  ...patches('409 patch-path-missing', service, {
    'replace /servers/length 0': ['0 /servers/length'],
    'test /servers/length 2': ['0 /servers/length'],
    'add /servers/map "x"': ['0 /servers/map'],
    'test /router_options/toString 1': ['0 /router_options/toString'],
    'remove /router_options/hasOwnProperty': ['0 /router_options/hasOwnProperty'],
    'replace /servers/00 "/servers/db-serv-3"': ['0 /servers/00'],
    'replace /servers/01 "/servers/db-serv-3"': ['0 /servers/01'],
    'add /servers/-1 "/servers/db-serv-3"': ['0 /servers/-1'],
    'add /servers/+1 "/servers/db-serv-3"': ['0 /servers/+1'],
    'add /servers/1e0 "/servers/db-serv-3"': ['0 /servers/1e0'],
    'add /servers/0x1 "/servers/db-serv-3"': ['0 /servers/0x1'],
    'add /servers/1.0 "/servers/db-serv-3"': ['0 /servers/1.0'],
    'add /servers/ "/servers/db-serv-3"': ['0 /servers/'],
    'add /servers/٠ "/servers/db-serv-3"': ['0 /servers/٠'],
    'add /servers/3 "/servers/db-serv-3"': ['0 /servers/3'],
    'add /servers/4294967296 "/servers/db-serv-3"': ['0 /servers/4294967296'],
    'remove /servers/2': ['0 /servers/2'],
    'remove /servers/-': ['0 /servers/-'],
    'replace /servers/- "/servers/db-serv-3"': ['0 /servers/-'],
    'test /servers/- "x"': ['0 /servers/-'],
    'copy /servers/- /user': ['0 /servers/-'],
    'add /user/0 "x"': ['0 /user/0'],
    'add /max_connection/a 1': ['0 /max_connection/a'],
    'replace /user null|add /user/a 1': ['1 /user/a'],
    'add /router_options/a null|add /router_options/a/b "x"': ['1 /router_options/a/b'],
    'add /router_options {"a":null}|add /router_options/a/0 "x"': ['1 /router_options/a/0'],
    'add /router_options/weights/on "x"': ['0 /router_options/weights/on'],
    'replace /router_options/nothing "x"': ['0 /router_options/nothing'],
    'replace /user "x"|replace /max_connection 1|remove /router_options/nothing': [
      '2 /router_options/nothing',
    ],
    'remove /user|remove /user': ['1 /user'],
  }),
  ...patches('409 patch-path-missing', '/services/Bare-Service', {
    'remove /user': ['0 /user'],
    'test /user ""': ['0 /user'],
    'replace /router_options/a "b"': ['0 /router_options/a'],
  }),
  ...patches('409 patch-path-missing', filter, {
    'replace /parameters/new/value "x"': ['0 /parameters/new/value'],
    'remove /parameters/new': ['0 /parameters/new'],
    'replace /parameters/toString/value "x"': ['0 /parameters/toString/value'],
  }),
  ...patches('422 reserved-key', filter, {
    'add /parameters/__proto__/value "x"': ['0 /parameters/__proto__/value'],
    'add /parameters/constructor "x"': ['0 /parameters/constructor'],
  }),
  ...patches('409 patch-test-failed', service, {
    'replace /user "x"|test /user "service_user"': ['1 /user'],
    'test /started "2016-08-29T09:52:31+00:00"': ['0 /started'],
    'test /max_connection "100"': ['0 /max_connection'],
    'test /servers ["/servers/DB-Server-2","/servers/db-serv-1"]': ['0 /servers'],
    'test /name "my service"': ['0 /name'],
    'test /root_user 0': ['0 /root_user'],
  }),
  ...patches('422 patch-result-too-large', service, {
    [`add /router_options/a "${'x'.repeat(1000)}"|${grown}`]: ['10 /router_options/c9'],
    [`add /router_options/a "${'x'.repeat(600_000)}"|copy /router_options/a /router_options/b`]: [
      '1 /router_options/b',
    ],
  }),
  ...patches('422 field-not-modifiable', service, {
    'replace /name "x"': ['0 /name'],
    'remove /state': ['0 /state'],
    'add /total_connections 0': ['0 /total_connections'],
    'copy /router /user': ['0 /router'],
    'move /user /started': ['0 /started'],
    'add /user "x"|add /router/0 "x"': ['1 /router/0'],
  }),
  ...patches('422 field-not-modifiable', server, {
    'replace /name "x"': ['0 /name'],
    'remove /protocol': ['0 /protocol'],
    'move /name /address': ['0 /name'],
  }),
  ...patches('422 field-not-modifiable', monitor, {
    'replace /name "x"': ['0 /name'],
    'replace /module "x"': ['0 /module'],
    'replace /state "stopped"': ['0 /state'],
  }),
  ...patches('422 field-not-modifiable', filter, {
    'replace /module "x"': ['0 /module'],
    'replace /parameters/source/configurable true': ['0 /parameters/source/configurable'],
    'add /parameters/match {"value":"select","configurable":false}': ['0 /parameters/match/configurable'],
    'replace /parameters/match/configurable false': ['0 /parameters/match/configurable'],
    'add /services/- "/services/Bare-Service"': ['0 /services/-'],
  }),
  ...patches('422 field-not-modifiable', '/users/ada', {
    'replace /name "x"': ['0 /name'],
  }),
  ...patches('422 field-unknown', '/users/ada', {
    'add /role "admin"|replace /password "planted"': ['0 /role'],
  }),
  ...patches('422 field-unknown', service, {
    'add /nothing 1': ['0 /nothing'],
    'test /toString 1': ['0 /toString'],
    'add /listeners []': ['0 /listeners'],
    'add /servers~1- "/servers/db-serv-3"': ['0 /servers~1-'],
    'add /Servers []': ['0 /Servers'],
    'add /__defineGetter__ "x"': ['0 /__defineGetter__'],
    'replace /max_connection 1|add /nothing 1': ['1 /nothing'],
    'add /status []': ['0 /status'],
  }),
  ...patches('422 field-unknown', server, { 'test /key "db-serv-1"': ['0 /key'] }),
  ...patches('422 field-unknown', filter, {
    'add /match "x"': ['0 /match'],
    'add /parameters/match/more "x"': ['0 /parameters/match/more'],
  }),
  ...patches('422 validation-failed', server, {
    'remove /address': ['0 /address'],
    'replace /port 70000|add /parameters/a null|replace /status/0 "down"': [
      ...['0 /port', '1 /parameters/a', '2 /state/0'],
    ],
  }),
  ...patches('422 validation-failed', monitor, {
    'replace /monitor_interval 0|replace /read_timeout -1|replace /servers ["/servers/x","/servers/db-serv-1"]':
      [...['0 /monitor_interval', '1 /read_timeout', '2 /servers/0']],
  }),
  ...patches('422 validation-failed', filter, {
    'remove /parameters/match/value': ['0 /parameters/match/value'],
    'add /parameters/new 7': ['0 /parameters/new/value'],
    'add /parameters/new {"value":"x","configurable":"yes"}': ['0 /parameters/new/configurable'],
    'copy /parameters/match/value /parameters/new': ['0 /parameters/new'],
    'remove /parameters': ['0 /parameters', '0 /parameters/source'],
    'replace /parameters/match/value 7|replace /parameters/source/value "x"': [
      ...['0 /parameters/match/value', '1 /parameters/source'],
    ],
  }),
  // No fault hides another one.
  ...patches('422 validation-failed', service, {
    'add /max_connection -1|add /servers/- "/servers/nothing"|add /toString 1': [
      '0 /max_connection',
      '1 /servers/2',
      '2 /toString',
    ],
    'add /password 5|add /max_connection -1': ['0 /password', '1 /max_connection'],
    'add /max_connection -1|test /password "planted"|add /router_options/password 7': [
      '0 /max_connection',
      '1 /password',
      '2 /router_options/password',
    ],
  }),
  ...patches('422 validation-failed', '/users/ada', {
    'add /password ""|add /role "admin"': ['0 /password', '1 /role'],
    'add /password 7|test /password "planted"': ['0 /password', '1 /password'],
  }),
  // A fault that another one may have caused is not told.
  ...patches('422 password-unacceptable', service, {
    'add /router_options {"password":7}|test /router_options {}|add /max_connection -1': [
      '0 /router_options/password',
    ],
    'add /router_options/a 7|add /router_options {"password":7}': ['1 /router_options/password'],
  }),
  ...patches('422 field-write-only', service, {
    'test /password "planted"': ['0 /password'],
    'test /password "v1.sealed.nobody-reads"': ['0 /password'],
    'test /password {"sealed":"v1.sealed.nobody-reads"}': ['0 /password'],
    'test /password/sealed "v1.sealed.nobody-reads"': ['0 /password/sealed'],
    'replace /password/sealed "planted"': ['0 /password/sealed'],
    'remove /password/sealed': ['0 /password/sealed'],
    'copy /password/sealed /user': ['0 /password/sealed'],
    'copy /password /user': ['0 /password'],
    'move /password /user': ['0 /password'],
    'copy /user /password': ['0 /password'],
    'move /user /password': ['0 /password'],
    'add /password/0 "planted"': ['0 /password/0'],
    'test /password/length 7': ['0 /password/length'],
  }),
  ...patches('422 field-write-only', '/users/ada', {
    'test /password "planted"': ['0 /password'],
    'test /password "hash-that-nobody-reads"': ['0 /password'],
    'test /password {"sealed":"planted"}': ['0 /password'],
    'copy /name /password': ['0 /password'],
    'copy /password /name': ['0 /password'],
    'move /password /password': ['0 /password'],
    'add /password/0 "planted"': ['0 /password/0'],
    'test /password/length 7': ['0 /password/length'],
    'test /password/sealed "hash-that-nobody-reads"': ['0 /password/sealed'],
    'replace /password/sealed "planted"': ['0 /password/sealed'],
    'replace /password "planted"|test /password "planted"': ['1 /password'],
  }),
  ...patches('422 field-write-only', service, {
    'test /router_options/password "planted"': ['0 /router_options/password'],
    'test /router_options/PASSWORD "planted"': ['0 /router_options/PASSWORD'],
    'test /router_options {"router_options":"master","weights":"on","password":"planted"}': [
      '0 /router_options/password',
    ],
    'copy /router_options/password /user': ['0 /router_options/password'],
    'move /router_options/password /router_options/open': ['0 /router_options/password'],
    'copy /router_options/weights /router_options/Password': ['0 /router_options/Password'],
    'add /router_options/password/sealed "planted"': ['0 /router_options/password/sealed'],
  }),
  ...patches('422 field-write-only', filter, {
    'test /parameters/password/value "planted"': ['0 /parameters/password/value'],
    'test /parameters/password/configurable true': ['0 /parameters/password/configurable'],
    'test /parameters/password {"value":"planted","configurable":true}': ['0 /parameters/password'],
    'copy /parameters/password /parameters/open': ['0 /parameters/password'],
    'copy /parameters/password/value /parameters/match/value': ['0 /parameters/password/value'],
    'move /parameters/match /parameters/password': ['0 /parameters/password'],
    'replace /parameters/password/configurable false': ['0 /parameters/password/configurable'],
  }),
  ...patches('422 field-write-only', server, {
    'test /parameters/password/sealed "v1.sealed.nobody-reads"': ['0 /parameters/password/sealed'],
    'test /parameters/password {"sealed":"v1.sealed.nobody-reads"}': ['0 /parameters/password'],
    'test /parameters {"password":{"sealed":"v1.sealed.nobody-reads"}}': ['0 /parameters/password'],
    'copy /parameters/password/sealed /address': ['0 /parameters/password/sealed'],
    'remove /parameters/password/sealed': ['0 /parameters/password/sealed'],
  }),
  // No text from a client passes for sealed text, under whatever name.
  ...patches('422 validation-failed', service, {
    'add /user {"sealed":"planted"}': ['0 /user'],
    'add /router_options/mode {"sealed":"planted"}': ['0 /router_options/mode'],
    'replace /router_options {"mode":{"sealed":"planted"}}': ['0 /router_options/mode'],
    'add /router_options/mode {"sealed":7}': ['0 /router_options/mode'],
    'add /router_options/mode {"sealed":"planted","more":1}': ['0 /router_options/mode'],
    // The stored form of a secret has this name.
    'add /router_options/sealed "planted"': ['0 /router_options/sealed'],
    'replace /router_options {"sealed":"planted"}': ['0 /router_options/sealed'],
  }),
  ...patches('422 validation-failed', server, {
    'add /parameters/pin {"sealed":"planted"}': ['0 /parameters/pin'],
    'replace /parameters {"pin":{"sealed":"planted"}}': ['0 /parameters/pin'],
    'add /parameters/sealed 7': ['0 /parameters/sealed'],
  }),
  ...patches('422 validation-failed', monitor, {
    'add /parameters {"pin":{"sealed":"planted"}}': ['0 /parameters/pin'],
  }),
  ...patches('422 validation-failed', filter, {
    'add /parameters/pin {"sealed":"planted"}': ['0 /parameters/pin'],
    'add /parameters/pin {"value":{"sealed":"planted"}}': ['0 /parameters/pin'],
    'replace /parameters/match/value {"sealed":"planted"}': ['0 /parameters/match/value'],
  }),
  ...patches('409 patch-path-missing', server, {
    'remove /parameters/password|remove /parameters/password': ['1 /parameters/password'],
    'replace /parameters/PASSWORD "planted"': ['0 /parameters/PASSWORD'],
  }),
  ...patches('422 password-unacceptable', server, {
    'add /parameters/password 7': ['0 /parameters/password'],
    'add /parameters/Password ""': ['0 /parameters/Password'],
    'add /parameters/password {"sealed":"planted"}': ['0 /parameters/password'],
    'replace /parameters {"weight":1,"PASSWORD":{"sealed":"planted"}}': ['0 /parameters/PASSWORD'],
  }),
  ...patches('422 password-unacceptable', filter, {
    'add /parameters/password {"configurable":true}': ['0 /parameters/password'],
    'replace /parameters {"name":"password","value":["planted"]}': ['0 /parameters/password'],
    'replace /parameters/password/value null': ['0 /parameters/password/value'],
    'replace /parameters/password/value {"sealed":"planted"}': ['0 /parameters/password/value'],
    'add /parameters/password {"sealed":"planted"}': ['0 /parameters/password'],
    'add /parameters/password {"value":{"sealed":"planted"}}': ['0 /parameters/password'],
  }),
  ...patches('422 parameter-not-configurable', filter, {
    'replace /parameters/source/value "planted"': ['0 /parameters/source'],
    'remove /parameters/source': ['0 /parameters/source'],
    'add /parameters/source {"value":"x","configurable":true}': ['0 /parameters/source'],
    'move /parameters/match /parameters/source': ['0 /parameters/source'],
  }),
  ...patches('422 validation-failed', service, {
    'replace /max_connection -1|add /version_string 7|replace /root_user "no"|add /router_options/a 1': [
      '3 /router_options/a',
      '2 /root_user',
      '1 /version_string',
      '0 /max_connection',
    ],
    'add /max_connection -1|add /servers/- "/servers/nothing"': ['0 /max_connection', '1 /servers/2'],
    'remove /servers': ['0 /servers'],
    'move /router_options /user': ['0 /router_options', '0 /user'],
  }),
  ...patches('422 validation-failed', '/users/ada', {
    'replace /password "planted"|remove /password': ['1 /password'],
  }),
  ...patches('422 password-unacceptable', '/users/ada', {
    'replace /password ""|add /password 7': ['0 /password', '1 /password'],
    'replace /password {"sealed":"planted"}': ['0 /password'],
    [String.raw`replace /password "planted\u0000"`]: ['0 /password'],
  }),
  ...patches('422 field-not-modifiable', '/', {
    'replace /ready true': ['0 /ready'],
    'remove /links/services': ['0 /links/services'],
    'copy /read_only /ready': ['0 /ready'],
    'add /read_only_since "2016-08-29T12:52:31+03:00"': ['0 /read_only_since'],
    'add /read_only_by "eve"': ['0 /read_only_by'],
  }),
  ...patches('422 validation-failed', '/', {
    'replace /read_only "true"': ['0 /read_only'],
    'remove /read_only': ['0 /read_only'],
    'add /read_only_reason "x"': ['0 /read_only_reason'],
    'replace /read_only false|add /read_only_reason "x"': ['1 /read_only_reason'],
    'add /read_only_reason "x"|replace /read_only false': ['0 /read_only_reason'],
    'copy /read_only /read_only_reason': ['0 /read_only_reason', '0 /read_only_reason'],
    'move /read_only /read_only_reason': ['0 /read_only', '0 /read_only_reason'],
  }),
  ...patches('422 op-not-allowed', '/', { 'replace  {"read_only":true}': ['0 '] }),
  ...patches('409 patch-path-missing', '/', { 'remove /read_only_reason': ['0 /read_only_reason'] }),
  ...patches('422 field-unknown', '/', { 'add /readOnly true': ['0 /readOnly'] }),
  ...patches('409 patch-test-failed', '/', {
    'replace /read_only true|test /read_only false': ['1 /read_only'],
  }),
];
