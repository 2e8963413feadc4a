/* A hash table. int commented(void) { return 0; } */
#include <stddef.h>
#include <stdio.h>

#define MAX_LOAD 0.75
#define HASH(key, size) \
    ((key) % (size))
#define LOG(fmt, ...) fprintf(stderr, fmt "\n", __VA_ARGS__)

struct table;
typedef struct table table_t;
typedef unsigned long hash_t;
typedef unsigned char uint8_t;
typedef int (*compare_fn)(const void *, const void *);
typedef int vector_t[4];
extern int verbosity;
extern int initialised = 1;
int table_insert(struct table *t, const char *key, void *value);

enum color { RED, GREEN = 5, BLUE };
enum { BUFFER_SIZE = 4096, QUEUE_SIZE };

struct entry {
    const char *key;
    void *value, **slot;
    unsigned used : 1, dirty : 1;
    int (*compare)(const void *, const void *);
    struct entry *next;
    struct {
        int line, column;
    } place;
    union {
        int number;
        double real;
    };
    enum state { EMPTY, FULL } state;
};

typedef struct {
    double x, y;
} point_t;

typedef union value {
    int i;
    float f;
} value_t, *value_p;

typedef enum { LOW, HIGH } level_t;

struct table {
    struct entry **buckets;
    size_t size;
    char name[32];
} global_table, *table_pointer = &global_table;

static const char *const names[] = { "int string_looks(void) {", "two" };
static int counter = 0, limit = 10, *cursor;
int (*handler)(int, char *) = NULL;
static struct entry first = {
    .key = "first",
    .next = NULL,
};
struct { int width; } screen;
static __thread int per_thread;

static inline hash_t hash_of(const char *key)
{
    hash_t sum = 5381;
    for (int i = 0; key[i] != '}'; i++)
        sum = sum * 33 + (unsigned char)key[i];
    return sum;
}

int
table_insert(struct table *t,
             const char *key,
             void *value)
{
    int local = 0;
    extern int verbosity;
    t->buckets[HASH(hash_of(key), t->size)]->value = value;
    return local;
}

struct entry *table_find(const struct table *t, const char *key) { return t->buckets[0]; }

int (*choose(int which))(int) { return 0; }

char **split(const char *text, char separator) { return 0; }

void no_prototype() {}

int old_style(a, b)
    int a;
    char *b;
{
    return a;
}

#ifdef DEBUG
void dump(const struct table *t) { printf("void in_string() {\n"); }
#else
static void dump_nothing(void) {}
#endif

int main(int argc, char *argv[])
{
    compare_fn compare = NULL;
    LOG("%d", argc);
    return compare ? 1 : 0;
}

unsigned long __init_memblock start_of_memory(void) { return 0; }
TEST(name_of_a_test) { return; }
