/* Measures ways to read a large file, and many small ones, with a warm page cache. docs/experiments.md has the results.

       apt-get install liburing-dev
       cc -O3 -march=native -pthread bench/ways_to_read.c -o target/ways_to_read -luring
       target/ways_to_read bench/data/access-2000000.log           # a file, which threads read in blocks and add up
       find DIR -type f | target/ways_to_read -                    # files of at most 128 KiB each, which are only read

   Prints milliseconds, the least of several rounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, MOST_THREADS = 8, BATCH = 32, BUFFER = 128 << 10, MOST_PATHS = 1 << 20 };

static int file;
static off_t size;
static size_t block;
static unsigned char *mapping;
static _Atomic off_t next;
static char **paths;

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

static void *open_read_close(void *unused) {
    char *buffer = anonymous(BUFFER);
    long bytes = 0;
    for (off_t at; (at = atomic_fetch_add(&next, BATCH)) < size;)
        for (off_t number = at; number < at + BATCH && number < size; number++) {
            int one = open(paths[number], O_RDONLY | O_CLOEXEC | O_NOCTTY);
            ssize_t got = one < 0 ? 0 : pread(one, buffer, BUFFER, 0);
            bytes += got > 0 ? got : 0;
            if (one >= 0) close(one);
        }
    return (void *)bytes;
}

/* Links an open, a read and a close of each file of a batch, and submits the batch at once. */
static void *uring(void *unused) {
    struct io_uring ring;
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    if (io_uring_queue_init_params(4 * BATCH, &ring, &params) || io_uring_register_files_sparse(&ring, BATCH))
        return (void *)-1L;
    char *buffers = anonymous((size_t)BUFFER * BATCH);
    long bytes = 0;
    for (off_t at; (at = atomic_fetch_add(&next, BATCH)) < size;) {
        int batch = size - at < BATCH ? size - at : BATCH;
        for (int slot = 0; slot < batch; slot++) {
            struct io_uring_sqe *step = io_uring_get_sqe(&ring);
            io_uring_prep_openat_direct(step, AT_FDCWD, paths[at + slot], O_RDONLY | O_NOCTTY, 0, slot);
            step->flags |= IOSQE_IO_LINK;
            step->user_data = 0;
            step = io_uring_get_sqe(&ring);
            io_uring_prep_read(step, slot, buffers + (size_t)slot * BUFFER, BUFFER, 0);
            step->flags |= IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK;
            step->user_data = 1;
            step = io_uring_get_sqe(&ring);
            io_uring_prep_close_direct(step, slot);
            step->user_data = 0;
        }
        io_uring_submit_and_wait(&ring, 3 * batch);
        for (int step = 0; step < 3 * batch; step++) {
            struct io_uring_cqe *done;
            io_uring_wait_cqe(&ring, &done);
            if (done->user_data && done->res > 0) bytes += done->res;
            io_uring_cqe_seen(&ring, done);
        }
    }
    io_uring_queue_exit(&ring);
    return (void *)bytes;
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
    paths = malloc(MOST_PATHS * sizeof *paths);
    for (ssize_t length; size < MOST_PATHS && (length = getline(&line, &capacity, stdin)) > 0;) {
        line[strcspn(line, "\n")] = 0;
        paths[size++] = strdup(line);
    }
    for (int threads = 1; threads <= 2; threads++)
        printf("%d thread%s, open-read-close %5.0f, io_uring %5.0f\n", threads, threads > 1 ? "s" : "",
               measure(open_read_close, threads, 0), measure(uring, threads, 0));
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: ways_to_read FILE, or - and paths on standard input\n"), 2;
    if (strcmp(arguments[1], "-")) large_file(arguments[1]);
    else small_files();
    return 0;
}
