class Before {
    int member;
public:
    int get() const { return member; }
};

template <typename = int broken( { return ; }

namespace after {
int last() { return 2; }
}
