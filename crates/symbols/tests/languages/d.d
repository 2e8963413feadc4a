/// Queues. class Commented {}
module collections.queue;

import std.stdio : writeln;

/+ nested /+ void no() {} +/ comment +/
enum maxSize = 64;
enum Color { red, green = 3, blue }
enum { anonymousMember, another }
enum string title = "class InString {}";
alias Index = size_t;
alias int OldStyle, OlderStyle;
alias Callback = void delegate(int);
__gshared int counter;
immutable double pi = 3.14, tau = 6.28;
auto inferred = 1;
int[] list, other;

struct Point
{
    int x, y;
    this(int x, int y) { this.x = x; this.y = y; }
    ~this() {}
    this(this) {}
    Point opBinary(string op)(Point rhs) if (op == "+") { return this; }
    @property int length() const { return x; }
    static Point origin() { return Point(0, 0); }
    invariant { assert(x >= 0); }
}

interface Shape
{
    double area();
}

abstract class Base : Shape
{
    private string name_;
    protected static int made = 0;
    this(string name) { name_ = name; }
    abstract double area();
    final string name() @safe nothrow { return name_; }
    class Inner
    {
        int depth;
    }
}

class Stack(T, size_t n = 16) if (n > 0)
{
    T[n] items;
    void push(T item) { items[0] = item; }
    T pop()
    in (n > 0)
    {
        return items[0];
    }
}

union Number
{
    int i;
    float f;
}

template Pair(A, B)
{
    struct Pair { A a; B b; }
    enum isSame = is(A == B);
}

mixin template Logging()
{
    void log(string text) { writeln(text); }
}

T largest(T)(T a, T b)
{
    T local = a;
    int helper(int n) { return n; }
    struct Local { int n; }
    auto lambda = (int n) => n * 2;
    return a > b ? a : b;
}

private extern (C) int callback(int a) { return a; }

void prototype(int a);

version (linux)
{
    void onLinux() {}
}
else
{
    void elsewhere() {}
}

auto wysiwyg = `void inBackticks() {}`;

unittest
{
    int inTest = 1;
    assert(largest(1, 2) == 2);
}

void main(string[] args)
{
    foreach (i; 0 .. 3) writeln(i);
}
