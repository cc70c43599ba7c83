/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer: on every file named, or in a folder named, and on a few
 * hundred mutations of each, the same every time. What breaks it is kept as fuzz-broken-input. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"
#include "mutate.h"

enum {
    MOST_SEEDS = 4096,
    MOST_BYTES = 1 << 18,
    SECONDS = 5, /* of processor time for one input, on a slow machine and under a sanitizer */
};

typedef struct seed_file {
    char *path;
    fuzz_bytes bytes;
} seed_file;

static seed_file seeds[MOST_SEEDS];
static size_t n_seeds;

/* The input that is being run, for whoever has to look into a failure. */
static struct {
    const char *path;
    unsigned long mutation; /* 0: as it is */
    const uint8_t *at;
    size_t n;
} current;

/* ---- keeping what breaks a target --------------------------------------------------------- */

static void say(const char *text)
{
    ssize_t done = write(STDERR_FILENO, text, strlen(text));
    (void)done;
}

/* Keeps the input. Called by a signal: nothing here may allocate or print through stdio. */
static void keep_input(void)
{
    char number[24];
    size_t at = sizeof number;
    number[--at] = 0;
    for (unsigned long k = current.mutation; k > 0 || at == sizeof number - 1; k /= 10) {
        number[--at] = (char)('0' + k % 10);
    }
    say("broken by ");
    say(current.path == NULL ? "nothing" : current.path);
    say(", mutation ");
    say(number + at);
    say(", kept as fuzz-broken-input\n");
    int fd = open("fuzz-broken-input", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0) {
        ssize_t done = write(fd, current.at, current.n);
        (void)done;
        (void)close(fd);
    }
}

static void broken(int signal_number)
{
    keep_input();
    if (signal_number == SIGPROF) {
        say("it takes too long\n");
    }
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

/* There with a sanitizer that ends the program itself.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): its name */
void __sanitizer_set_death_callback(void (*callback)(void))
    __attribute__((weak, visibility("default")));

static void prepare(void)
{
    const rlim_t most = (rlim_t)1 << 31; /* bytes */
    struct rlimit memory = {0};
    (void)signal(SIGABRT, broken);
    (void)signal(SIGPROF, broken);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(keep_input);
        return; /* it reserves more address space than there is memory */
    }
    (void)signal(SIGSEGV, broken);
    (void)signal(SIGBUS, broken);
    (void)signal(SIGFPE, broken);
    if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur > most) {
        memory.rlim_cur = most;
        (void)setrlimit(RLIMIT_AS, &memory);
    }
}

/* ---- seeds -------------------------------------------------------------------------------- */

static void add_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    seed_file *s = &seeds[n_seeds];
    if (file == NULL || n_seeds == MOST_SEEDS) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    s->path = strdup(path);
    s->bytes.at = malloc(MOST_BYTES);
    FUZZ_REQUIRE(s->path != NULL && s->bytes.at != NULL);
    s->bytes.n = fread(s->bytes.at, 1, MOST_BYTES, file);
    FUZZ_REQUIRE(s->bytes.n < MOST_BYTES && fclose(file) == 0);
    n_seeds++;
}

static void add_path(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        add_file(path);
        return;
    }
    const struct dirent *entry = NULL;
    while ((entry = readdir(folder)) != NULL) { /* NOLINT(concurrency-mt-unsafe): one thread */
        char inside[4096];
        if (entry->d_name[0] != '.') {
            (void)snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
            add_file(inside);
        }
    }
    (void)closedir(folder);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const seed_file *)a)->path, ((const seed_file *)b)->path);
}

/* ---- running ------------------------------------------------------------------------------ */

/* An allocation of the exact size, so that a checker sees a step too far. */
static void run_input(const uint8_t *bytes, size_t n)
{
    const struct itimerval limit = {.it_value = {.tv_sec = SECONDS}};
    uint8_t *copy = malloc(n == 0 ? 1 : n);
    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, bytes, n);
    current.at = copy;
    current.n = n;
    (void)setitimer(ITIMER_PROF, &limit, NULL);
    (void)LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void run_seed(size_t i, unsigned long n_mutations, const fuzz_words *words)
{
    static uint8_t buffer[MOST_BYTES];
    current.path = seeds[i].path;
    current.mutation = 0;
    run_input(seeds[i].bytes.at, seeds[i].bytes.n);
    for (unsigned long k = 1; k <= n_mutations; k++) {
        memcpy(buffer, seeds[i].bytes.at, seeds[i].bytes.n);
        current.mutation = k;
        size_t n = fuzz_mutate(buffer, seeds[i].bytes.n, sizeof buffer,
                               seeds[(i + k) % n_seeds].bytes, words, k);
        run_input(buffer, n);
    }
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: fuzz_NAME [-m MUTATIONS] [-d DICTIONARY] FILE|FOLDER...\n");
    return 2;
}

int main(int argc, char **argv)
{
    unsigned long n_mutations = 0;
    fuzz_words words = {0};
    for (int option = 0; (option = getopt(argc, argv, "m:d:")) != -1;) {
        if (option == 'm') {
            n_mutations = strtoul(optarg, NULL, 10);
        } else if (option == 'd') {
            words = fuzz_read_words(optarg);
        } else {
            return usage();
        }
    }
    for (int i = optind; i < argc; i++) {
        add_path(argv[i]);
    }
    if (n_seeds == 0) {
        return usage();
    }
    qsort(seeds, n_seeds, sizeof seeds[0], by_path);
    prepare();
    for (size_t i = 0; i < n_seeds; i++) {
        run_seed(i, n_mutations, &words);
    }
    (void)printf("%zu seeds, %lu mutations of each\n", n_seeds, n_mutations);
    for (size_t i = 0; i < n_seeds; i++) {
        free(seeds[i].path);
        free(seeds[i].bytes.at);
    }
    fuzz_free_words(&words);
    return 0;
}
