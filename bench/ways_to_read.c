/* Measures ways to read a large file, and many small ones, with a warm page cache. docs/experiments.md has the results.

       apt-get install liburing-dev
       cc -O3 -march=native -pthread bench/ways_to_read.c -o target/ways_to_read -luring
       target/ways_to_read bench/data/access-2000000.log           # a file, which threads read in blocks and add up
       find DIR -type f | LC_ALL=C sort | target/ways_to_read -    # files of at most 128 KiB each, added up by directory

   Prints milliseconds, the least of several rounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, MOST_THREADS = 8, BATCH = 16, BUFFER = 128 << 10, MOST_DIRECTORIES = 1 << 17 };

static int file;
static off_t size;
static size_t block;
static unsigned char *mapping;
static _Atomic off_t next;

/* A directory and the names of its files. */
static struct directory {
    char *path, **names;
    int count;
} *directories;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * time.tv_sec + 1e-6 * time.tv_nsec;
}

static void *anonymous(size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Adds up all words, which takes as long as memory does. */
static long sum(const unsigned char *bytes, size_t length) {
    long sum = 0;
    for (size_t at = 0; at + sizeof sum <= length; at += sizeof sum) {
        long word;
        memcpy(&word, bytes + at, sizeof word);
        sum += word;
    }
    return sum;
}

/* Blocks of the file, read by pread to this distance from the beginning of a page. */
static long by_pread(size_t distance) {
    unsigned char *buffer = anonymous(block + 4096);
    long total = 0;
    for (off_t at; (at = atomic_fetch_add(&next, block)) < size;)
        total += sum(buffer + distance, pread(file, buffer + distance, block, at));
    munmap(buffer, block + 4096);
    return total;
}

static long by_map_of_file(int populates) {
    long total = 0;
    for (off_t at; (at = atomic_fetch_add(&next, block)) < size;) {
        size_t length = size - at < (off_t)block ? size - at : block;
        if (populates) madvise(mapping + at, length, MADV_POPULATE_READ);
        total += sum(mapping + at, length);
    }
    return total;
}

static long by_map_of_block(int flags) {
    long total = 0;
    for (off_t at; (at = atomic_fetch_add(&next, block)) < size;) {
        size_t length = size - at < (off_t)block ? size - at : block;
        unsigned char *bytes = mmap(NULL, length, PROT_READ, MAP_SHARED | flags, file, at);
        total += sum(bytes, length);
        munmap(bytes, length);
    }
    return total;
}

static void *pread_aligned(void *unused) { return (void *)by_pread(0); }
static void *pread_unaligned(void *unused) { return (void *)by_pread(16); }
static void *map_file(void *unused) { return (void *)by_map_of_file(0); }
static void *map_file_populate(void *unused) { return (void *)by_map_of_file(1); }
static void *map_block(void *unused) { return (void *)by_map_of_block(0); }
static void *map_block_populate(void *unused) { return (void *)by_map_of_block(MAP_POPULATE); }

enum { FLAGS = O_RDONLY | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK };

/* The next directory, which is opened, or none. */
static struct directory *next_directory(int *opened) {
    off_t at = atomic_fetch_add(&next, 1);
    if (at >= size) return NULL;
    *opened = open(directories[at].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return &directories[at];
}

static void *open_read_close(void *unused) {
    unsigned char *buffer = anonymous(BUFFER);
    long total = 0;
    int opened;
    for (struct directory *directory; (directory = next_directory(&opened)); close(opened))
        for (int number = 0; number < directory->count; number++) {
            int one = openat(opened, directory->names[number], FLAGS | O_CLOEXEC);
            ssize_t got = one < 0 ? 0 : pread(one, buffer, BUFFER, 0);
            total += got > 0 ? sum(buffer, got) : 0;
            if (one >= 0) close(one);
        }
    return (void *)total;
}

/* The same with a table of descriptors for each thread, so that the kernel locks none. */
static void *with_own_table(void *unused) {
    unshare(CLONE_FILES);
    return open_read_close(unused);
}

/* Links an open, a read and a close of a file. */
static void link_steps(struct io_uring *ring, int opened, const char *name, int slot, unsigned char *buffer) {
    struct io_uring_sqe *step = io_uring_get_sqe(ring);
    io_uring_prep_openat_direct(step, opened, name, FLAGS, 0, slot);
    step->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
    step->user_data = BATCH;
    step = io_uring_get_sqe(ring);
    io_uring_prep_read(step, slot, buffer, BUFFER, 0);
    step->flags |= IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK;
    step->user_data = slot;
    step = io_uring_get_sqe(ring);
    io_uring_prep_close_direct(step, slot);
    step->flags |= IOSQE_CQE_SKIP_SUCCESS;
    step->user_data = BATCH;
}

/* Submits the steps of a batch of files of a directory at once. */
static void *uring(void *unused) {
    struct io_uring ring;
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    if (io_uring_queue_init_params(4 * BATCH, &ring, &params) || io_uring_register_files_sparse(&ring, BATCH))
        return (void *)-1L;
    unsigned char *buffers = anonymous((size_t)BUFFER * BATCH);
    long total = 0;
    int opened;
    for (struct directory *directory; (directory = next_directory(&opened)); close(opened))
        for (int first = 0; first < directory->count; first += BATCH) {
            int batch = directory->count - first < BATCH ? directory->count - first : BATCH;
            for (int slot = 0; slot < batch; slot++)
                link_steps(&ring, opened, directory->names[first + slot], slot, buffers + (size_t)slot * BUFFER);
            io_uring_submit_and_wait(&ring, batch);
            struct io_uring_cqe *done;
            unsigned head, count = 0;
            io_uring_for_each_cqe(&ring, head, done) {
                count++;
                if (done->user_data < BATCH && done->res > 0)
                    total += sum(buffers + (size_t)done->user_data * BUFFER, done->res);
            }
            io_uring_cq_advance(&ring, count);
        }
    io_uring_queue_exit(&ring);
    return (void *)total;
}

/* The least time of several rounds with some threads. */
static double measure(void *(*work)(void *), int threads, int maps_file) {
    double least = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t running[MOST_THREADS];
        next = 0;
        double start = now();
        if (maps_file) mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
        for (int thread = 0; thread < threads; thread++) pthread_create(&running[thread], NULL, work, NULL);
        for (int thread = 0; thread < threads; thread++) pthread_join(running[thread], NULL);
        if (maps_file) munmap(mapping, size);
        double time = now() - start;
        if (time < least) least = time;
    }
    return least;
}

static void large_file(const char *path) {
    static const struct { const char *name; void *(*work)(void *); int maps_file; } ways[] = {
        {"pread, page + 0", pread_aligned, 0},  {"pread, page + 16", pread_unaligned, 0},
        {"map of the file", map_file, 1},       {"map of the file, MADV_POPULATE_READ", map_file_populate, 1},
        {"map of a block", map_block, 0},       {"map of a block, MAP_POPULATE", map_block_populate, 0},
    };
    file = open(path, O_RDONLY);
    size = lseek(file, 0, SEEK_END);
    for (int threads = 1; threads <= 2; threads++)
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            printf("%d thread%s, %-36s", threads, threads > 1 ? "s" : " ", ways[way].name);
            for (block = 64 << 10; block <= 4 << 20; block *= 2)
                printf("  %4zu KiB %5.1f", block >> 10, measure(ways[way].work, threads, ways[way].maps_file));
            putchar('\n');
        }
}

static void small_files(void) {
    char *line = NULL;
    size_t capacity = 0;
    directories = calloc(MOST_DIRECTORIES, sizeof *directories);
    while (getline(&line, &capacity, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *slash = strrchr(line, '/');
        if (!slash) continue;
        *slash = 0;
        struct directory *last = size > 0 ? &directories[size - 1] : NULL;
        if (!last || strcmp(last->path, line)) {
            if (size == MOST_DIRECTORIES) break;
            last = &directories[size++];
            last->path = strdup(line);
        }
        last->names = realloc(last->names, (last->count + 1) * sizeof *last->names);
        last->names[last->count++] = strdup(slash + 1);
    }
    for (int threads = 1; threads <= 2; threads++)
        printf("%d thread%s, open-read-close %5.0f, own tables %5.0f, io_uring %5.0f\n", threads, threads > 1 ? "s" : "",
               measure(open_read_close, threads, 0), measure(with_own_table, threads, 0), measure(uring, threads, 0));
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: ways_to_read FILE, or - and paths on standard input\n"), 2;
    if (strcmp(arguments[1], "-")) large_file(arguments[1]);
    else small_files();
    return 0;
}
