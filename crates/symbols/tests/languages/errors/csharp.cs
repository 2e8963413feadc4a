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
    int Last() { return 2; }
}
