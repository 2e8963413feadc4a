int before(int a) { return a; }

int broken( { return 1 +; }

struct after {
    int member;
};

int last(void) { return 2; }

EXPORT int CALL
exported(int a)
{
    return a;
}

struct reply {
  HEADER union opcode code;
  int length;
};
