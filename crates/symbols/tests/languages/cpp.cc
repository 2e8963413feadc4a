// Shapes. class Commented { void no(); };
#include <string>
#include <vector>

#define SHAPES_API
#define SQUARE(x) ((x) * (x))

class Forward;
template <typename T> class ForwardTemplate;
void prototype(int a);
extern int elsewhere;

namespace geometry {

constexpr double pi = 3.14159;
inline namespace v2 {
using Real = double;
}
namespace detail::impl {
static int calls = 0;
int helper(int n) noexcept { return n + 1; }
}

enum class Color : unsigned char { Red, Green = 2, Blue };
enum Plain { One, Two };

template <typename T>
concept Numeric = requires(T a) { a + a; };

struct Point {
    double x = 0, y = 0;
    static int count;
    Point() = default;
    Point(double x, double y) : x(x), y(y) {}
    bool operator==(const Point &other) const { return x == other.x; }
    double operator[](int i) const;
    explicit operator bool() const { return x != 0; }
    operator const char *() const { return ""; }
    friend bool operator<(const Point &a, const Point &b) { return a.x < b.x; }
};

class Shape {
public:
    Shape() : name_("shape") {}
    virtual ~Shape() = default;
    virtual double area() const = 0;
    const std::string &name() const { return name_; }
    template <class V> void accept(V &&visitor) { visitor(*this); }
    using Ptr = Shape *;
    class Builder {
    public:
        Builder &sides(int n) { sides_ = n; return *this; }
    private:
        int sides_{0};
    };
    enum { Limit = 8 };
protected:
    std::string name_;
    static constexpr int max_sides = 12;
    int (*callback_)(int) = nullptr;
};

template <Numeric T, int N = 4>
class Polygon final : public Shape {
public:
    double area() const override;
    auto begin() -> T * { return points; }
private:
    T points[N];
};

template <> class Polygon<int, 3> {
    int sides;
};

template <typename T> T largest(T a, T b) { return a > b ? a : b; }
template <typename T> constexpr T zero = T{};
template <typename T> using List = std::vector<T>;

} // namespace geometry

int geometry::Point::count = 0;

template <geometry::Numeric T, int N>
double geometry::Polygon<T, N>::area() const { return 0; }

double geometry::Point::operator[](int i) const { return i ? y : x; }

namespace {
int hidden = 1;
void anonymous() {}
}

union Number {
    int i;
    float f;
};

std::vector<int> &numbers() {
    static std::vector<int> all;
    auto lambda = [](int a) { return a; };
    struct Local { int n; void run() {} };
    return all;
}

const char *raw = R"(class InString { };)";
auto compare = [](int a, int b) { return a < b; };
typedef struct { int id; } Record;
using Callback = void (*)(int);
long operator""_km(unsigned long long n) { return n * 1000; }
extern "C" {
int c_function(int a) { return a; }
int c_prototype(int a);
}
extern "C" void c_single() {}
extern "C" int c_variable;
auto [left, right] = std::pair(1, 2);
class SHAPES_EXPORT Exported {
    int member;
    int get() const { return member; }
};
auto trailing(int a) -> decltype(a) { return a; }
int main() try { return 0; } catch (...) { return 1; }

TEST(Suite, adds) { EXPECT_EQ(1 + 1, 2); }
namespace tests {
TEST_F(Fixture, subtracts) {
  EXPECT_EQ(1 - 1, 0);
}
BOOST_AUTO_TEST_CASE(multiplies) { }
}
struct URL {
  URL(Scheme, Host) { }
};
