#!/usr/bin/env node
// Widgets. function commented() {}
'use strict';

import fs from 'node:fs';

const LIMIT = 10, label = 'function quoted() {}';
let current = null;
var legacy;
const { first, second: renamed, ...others } = fs;
const [head, , tail = 3] = [1, 2];
export const VERSION = '1.0';

function plain(a, b = 2, ...rest) {
  const local = a;
  function inner() {}
  const arrow = (x) => x;
  class Local {
    run() {}
  }
  return local;
}

export default function main() {}
export async function load(path) {}
function* numbers() {}
async function* stream() {}

const add = (a, b) => a + b;
const twice = n => n * 2;
let late = async function named(x) {};
export const generator = function* () {};
const Wrapped = memo((props) => props.children);

class Shape extends Base {
  static count = 0;
  #secret = 1;
  name;
  handler = (event) => {
    const inHandler = event;
  };
  ['computed' + 1]() {}
  static {
    const inStaticBlock = 1;
  }
  constructor(name) {
    super();
    this.name = name;
    this.later = function () {};
  }
  get area() { return 0; }
  set area(value) {}
  async load() {}
  *[Symbol.iterator]() {}
  static create(options) { return new Shape(options); }
  #hidden() {}
  'quoted method'() {}
}

const Anonymous = class extends Shape {
  draw() {}
};

function Legacy(name) {
  this.name = name;
}

Legacy.prototype.greet = function (other) {
  return `function inTemplate() {} ${other}`;
};
Legacy.create = () => new Legacy();
Legacy.prototype = {
  wave: function () {},
  bow() {},
};
module.exports = { plain, load };
module.exports = class Exported {};
api.Template = class ApiTemplate {
  apply() {}
};
exports.helper = function helper(x) { return x; };
module.exports.other = (y) => y;

const api = {
  version: 2,
  get: function (path) {},
  post: async (path, body) => {},
  remove(path) {},
  'content-type': () => {},
  nested: {
    deep: () => {},
  },
};

current = () => {};
window.onload = function () {};
window["on change"] = function () {};
window[late] = function () {};
const bound = function (x) {}.bind(window);
const mixin = (Base) => class Mixed extends Base {
  mixedIn() {}
};
const Memoized = memo(function Named(props) {
  return function inner() {};
});

setTimeout(function () {
  const inCallback = 1;
}, 100);

(function () {
  function inModule() {}
})();
