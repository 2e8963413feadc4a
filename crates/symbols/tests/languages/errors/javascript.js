function before(a) { return a; }

const broken = (a => { return a +; };

class After {
  last() { return 2; }
}
