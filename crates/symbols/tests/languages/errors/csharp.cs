namespace Broken;

class Before
{
    int Get() { return 1; }
}

class Broken
{
    void Unfinished( { int a = ; }

    int AfterInClass() { return 1; }
}

class After
{
    int Last()
    {
        if (a) { return 1; }
#if DEBUG
        else if (b) { return 2; }
#endif
        else if (c) { return 3; }
        return 4;
    }
}
