function before(a: number): number { return a; }

const broken: = 3;

interface After {
  last(): number;
}
