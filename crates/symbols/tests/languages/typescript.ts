// Orders. class Commented {}
import type { Base } from './base';

export const LIMIT: number = 10;
let current: string | null = 'function quoted() {}', other = 1;
const { first, second: renamed } = current as any;
declare const injected: string;
declare let global1: number;
declare function external(a: number): void;
declare function ambient(a: string): void;
// With a number.
declare function ambient(a: number): void;
export const useStore = create((set) => ({ count: 0, increase: () => set(1) }));

type Id = string | number;
type Handler<T> = (event: T) => void;
type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side(): number };

enum Color { Red, Green = 2, 'dark-blue' }
export const enum Flags { None = 0, All = 1 << 3 }
declare enum Ambient { One }

interface Repository<T extends Base> extends Iterable<T> {
  readonly size: number;
  name?: string;
  find(id: Id): T | undefined;
  callback: (item: T) => void;
  new (name: string): Repository<T>;
  (call: number): string;
  [key: string]: unknown;
  get total(): number;
}

function overload(a: string): string;
function overload(a: number): number;
function overload(a: any): any {
  const local = a;
  type Inner = string;
  interface LocalShape { n: number }
  const arrow = (x: number): number => x;
  return local;
}

export abstract class Order<T> implements Repository<Base> {
  static count = 0;
  private readonly items: T[] = [];
  declare ambient: string;
  #secret?: number;
  protected handler = async (event: Event): Promise<void> => {};
  constructor(private name: string, public readonly id: Id, plain: number) {}
  abstract area(): number;
  abstract sides: number;
  find(id: Id): undefined;
  find(id: Id) { return undefined; }
  get total(): number { return 0; }
  set total(value: number) {}
  @memoize() async load<U>(
    path: string,
    options?: { limit: number },
  ): Promise<U> { throw new Error('class InString {}'); }
  static create<T>(this: void): T { return null as any; }
  *[Symbol.iterator]() {}
}

@Component({ selector: 'app', template: '<p></p>', init: () => {} })
export class App {
  @Input() title = '';
}

namespace Shop {
  export const tax = 0.2;
  export function price(a: number): number { return a; }
  export namespace Inner {
    export class Deep {}
  }
}

namespace Outer.Nested {
  export type Name = string;
}

declare module 'external-module' {
  export function helper(): void;
  export interface Options { depth: number }
}

declare global {
  interface Window { app: App }
}

export const add = (a: number, b: number): number => a + b;
export const identity = <T>(value: T): T => value;
export default function main(): void {}
const api = {
  get: (path: string) => path,
  post(path: string, body?: unknown): void {},
} as const;
const frozen = Object.freeze({ run: () => {} });
export function isString(value: unknown): value is string { return true; }
function assertOk(value: unknown): asserts value {}
export abstract class Empty {}
let later: () => void;
later = () => {};
