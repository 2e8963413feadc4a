class Before {
    int get() { return 1; }
}

class Broken {
    void unfinished( { int a = ; }

    int afterInClass() { return 1; }
}

class After {
    int last() { return 2; }
}
