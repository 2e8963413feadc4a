int before(int a) { return a; }

int x = = 3;

struct After
{
    int member;
    int last() { return 2; }
}
