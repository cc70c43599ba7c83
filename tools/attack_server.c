/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program once for each request, without starting it again: a program built with
 * sanitizers takes longer to start than to answer about a small model. libnetcdf is opened once,
 * because opening the library takes longer than reading a small file. tools/attack sends requests:
 *
 *     attack_server                           < REQUESTS > ANSWERS
 *     attack_server model FILE < DESCRIPTION  # see attack_model.c
 *
 * A request is a line with a number of bytes, then words of that many bytes, each followed by a
 * byte 0. The words are: a folder, a limit in seconds, exit or _exit, NAME=VALUE for each variable
 * of the environment (NAME alone removes the variable), an empty word, and the command. The first
 * word of the command is gibbsite, gibbsite-mpi or seal (attack_shares.c), or model, which makes a
 * model of the file `stdin`. The command runs in the folder, in an own process, with the files
 * `stdin` (if the folder has one), `stdout` and `stderr` of the folder. After exit the sanitizer
 * looks for leaks. After _exit it does not, because this takes longer than most commands. The
 * answer is a line, "exit STATUS KIB" or "signal NUMBER KIB", where KIB is the most memory that the
 * command used. The signal SIGALRM means that the limit was reached. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_model.h"
#include "attack_shares.h"
#include "draws/netcdf_library.h"

enum { MOST_BYTES = 1 << 16, MOST_WORDS = 256, FIRST_VARIABLE = 3 };

int __real_main(int argc, char **argv); // NOLINT: the linker's name for the program's main()
int __wrap_main(int argc, char **argv); // NOLINT: the linker's name for this file's

/* Leaks in libraries of others on damaged files, which are not reported. */
const char *__lsan_default_suppressions(void); // NOLINT: the sanitizer's name for it
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void) // NOLINT
{
    return "leak:libhdf5\nleak:libnetcdf\n";
}

/* Opens a file in place of a descriptor. @param fd the descriptor. */
static void stream(int fd, const char *path, int flags)
{
    const int opened = open(path, flags, 0600);
    if (opened < 0 || dup2(opened, fd) < 0 || close(opened) != 0) {
        perror(path);
        exit(120);
    }
}

/* Runs a command in the present process, a child of the server. @return exit status. */
static int run(char **word, int n)
{
    int i = FIRST_VARIABLE;
    if (chdir(word[0]) != 0) {
        perror(word[0]);
        return 120;
    }
    stream(STDIN_FILENO, access("stdin", F_OK) == 0 ? "stdin" : "/dev/null", O_RDONLY);
    stream(STDOUT_FILENO, "stdout", O_WRONLY | O_CREAT | O_TRUNC);
    stream(STDERR_FILENO, "stderr", O_WRONLY | O_CREAT | O_TRUNC);
    (void)alarm((unsigned)strtoul(word[1], NULL, 10));
    while (i < n && word[i][0] != '\0') {
        (void)putenv(word[i++]); // NOLINT(concurrency-mt-unsafe): one thread
    }
    i++;
    if (i >= n) {
        (void)fprintf(stderr, "attack_server: no command\n");
        return 120;
    }
    word[n] = NULL;
    return strcmp(word[i], "model") == 0          ? attack_model(n - i, word + i)
           : strcmp(word[i], "seal") == 0         ? attack_seal(n - i, word + i)
           : strcmp(word[i], "gibbsite-mpi") == 0 ? attack_alone(n - i, word + i)
                                                  : __real_main(n - i, word + i);
}

/* Reads a request. @return 1, or 0 at the end of the requests. */
static int next_request(char bytes[MOST_BYTES], char *word[MOST_WORDS], int *n)
{
    char line[32];
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 0;
    }
    const size_t size = strtoul(line, NULL, 10);
    if (size == 0 || size > MOST_BYTES || fread(bytes, 1, size, stdin) != size ||
        bytes[size - 1] != '\0') {
        (void)fprintf(stderr, "attack_server: found a damaged request\n");
        exit(120);
    }
    *n = 0;
    for (size_t at = 0; at < size && *n < MOST_WORDS - 1; at += strlen(bytes + at) + 1) {
        word[(*n)++] = bytes + at;
    }
    return 1;
}

static void serve(void)
{
    static char bytes[MOST_BYTES];
    static char *word[MOST_WORDS];
    cli_netcdf_library library = {0};
    int n = 0;
    /* without the library each command reports its absence */
    (void)cli_netcdf_library_open(&library);
    /* a child must not find the next request in its buffer */
    (void)setvbuf(stdin, NULL, _IONBF, 0);
    while (next_request(bytes, word, &n)) {
        int status = 0;
        struct rusage used = {0};
        const pid_t child = fork();
        if (child == 0) {
            const int ended = run(word, n);
            if (strcmp(word[FIRST_VARIABLE - 1], "exit") == 0) {
                exit(ended);
            }
            (void)fflush(NULL);
            _exit(ended);
        }
        if (child < 0 || wait4(child, &status, 0, &used) != child) {
            perror("attack_server");
            exit(120);
        }
        (void)printf(WIFEXITED(status) ? "exit %d %ld\n" : "signal %d %ld\n",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), used.ru_maxrss);
        (void)fflush(stdout);
    }
}

int __wrap_main(int argc, char **argv)
{
    if (argc > 1) {
        return attack_model(argc - 1, argv + 1);
    }
    serve();
    return 0;
}
