/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite-mpi partition MODEL -n RANKS -o FOLDER: divides a model into a share for each rank. No
 * later run needs the whole model.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "divide.h"
#include "job/shares.h"

typedef struct request {
    const char *folder;
    uint32_t n_ranks;
    gbs_parts parts;
} request;

int mpi_parse_parts(const char *text, gbs_parts *parts)
{
    for (int i = 0; gbs_parts_name((gbs_parts)i) != NULL; i++) {
        if (strcmp(text, gbs_parts_name((gbs_parts)i)) == 0) {
            *parts = (gbs_parts)i;
            return CLI_DONE;
        }
    }
    return cli_error(CLI_USAGE, "--parts %s: expected auto, metis, bisection, breadth or intervals",
                     text);
}

const char *mpi_value_of(const char *name, int argc, char **argv, int *i)
{
    const size_t length = strlen(name);
    if (strncmp(argv[*i], name, length) != 0) {
        return NULL;
    }
    if (argv[*i][length] == '=') {
        return argv[*i] + length + 1;
    }
    if (argv[*i][length] != '\0') {
        return NULL;
    }
    return *i + 1 < argc ? argv[++*i] : "";
}

static int write_variables(const gbs_partition *partition, const request *r)
{
    gbs_error err = {GBS_OK, ""};
    char path[4096];
    cli_variables_path(r->folder, path, sizeof path);
    const gbs_status status = gbs_partition_write_variables(partition, path, &err);
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

static void tell_head(const gbs_partition *partition, const request *r)
{
    (void)printf("%s: %" PRIu32
                 " ranks, divided by %s; values are states of one chain in a sweep\n\n"
                 "  rank   variables     halo  boundary  neighbours  messages    values     runs\n",
                 r->folder, r->n_ranks, gbs_partition_kind(partition));
}

/* Prints the figures of one share. If there are many ranks, only the first and the last shares are
 * printed.
 */
static void tell_share(const gbs_share *share, const request *r)
{
    gbs_share_figures f = {.size = sizeof f};
    const uint32_t rank = gbs_share_rank(share);
    if (gbs_share_tell(share, &f, NULL) < 0 || (rank >= 12 && rank + 4 < r->n_ranks)) {
        return;
    }
    (void)printf("%6" PRIu32 "%12" PRIu32 "%9" PRIu32 "%10" PRIu32 "%12" PRIu32 "%10" PRIu64
                 "%10" PRIu64 "%9" PRIu64 "\n",
                 rank, f.n_own, f.n_halo, f.n_boundary, f.n_neighbours, f.n_messages, f.n_values,
                 f.n_runs);
}

static int write_shares(const gbs_partition *partition, const request *r)
{
    gbs_error err = {GBS_OK, ""};
    tell_head(partition, r);
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        gbs_share *share = NULL;
        char path[4096];
        cli_share_path(r->folder, rank, path, sizeof path);
        gbs_status status = gbs_partition_share(partition, rank, &share, &err);
        if (status >= 0) {
            status = gbs_share_write(share, path, &err);
        }
        if (status >= 0) {
            tell_share(share, r);
        }
        gbs_share_free(share);
        if (status < 0) {
            return cli_fail(status, &err);
        }
    }
    return cli_flush(stdout);
}

/* Whether a file name is the name of a share, such as "000003.share", or of an unfinished share,
 * such as "000003.share~". */
static int is_share(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    return digits > 0 &&
           (strcmp(name + digits, ".share") == 0 || strcmp(name + digits, ".share~") == 0);
}

static int fail_errno(const char *path, const char *what)
{
    return cli_error(CLI_FAILED, "%s: %s: %s", path, what,
                     strerror(errno)); // NOLINT(concurrency-mt-unsafe): one thread
}

/* Makes the folder, and deletes the files of an earlier partition. The file of names is deleted
 * first, because shares without this file are not accepted as a complete partition. */
static int make_folder(const char *folder)
{
    char path[4096];
    int done = CLI_DONE;
    if (mkdir(folder, 0777) == 0) {
        return CLI_DONE;
    }
    if (errno != EEXIST || !cli_is_folder(folder)) {
        return fail_errno(folder, "the folder cannot be made");
    }
    cli_variables_path(folder, path, sizeof path);
    if (unlink(path) != 0 && errno != ENOENT) {
        return fail_errno(path, "cannot be replaced");
    }
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return fail_errno(folder, "the folder cannot be read");
    }
    for (const struct dirent *e = readdir(entries);             // NOLINT(concurrency-mt-unsafe)
         e != NULL && done == CLI_DONE; e = readdir(entries)) { // NOLINT(concurrency-mt-unsafe)
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (is_share(e->d_name) && unlink(path) != 0) {
            done = fail_errno(path, "cannot be replaced");
        }
    }
    (void)closedir(entries);
    return done;
}

static int write_folder(const gbs_partition *partition, const request *r)
{
    int done = make_folder(r->folder);
    done = done == CLI_DONE ? write_shares(partition, r) : done;
    return done == CLI_DONE ? write_variables(partition, r) : done;
}

static int divide(cli_job *job, const request *r)
{
    gbs_error err = {GBS_OK, ""};
    gbs_partition *partition = NULL;
    gbs_status status = gbs_partition_new(job->model, job->evidence, &job->options, r->n_ranks,
                                          r->parts, &partition, &err);
    if (status >= 0) {
        status = gbs_partition_find_starts(partition, (uint32_t)job->options.chains, &err);
    }
    const int done = status < 0 ? cli_fail(status, &err) : write_folder(partition, r);
    gbs_partition_free(partition);
    return done;
}

/* Kinds of lattices that this program can divide without making the whole model. Names and options
 * are the words of `gibbsite generate`. */
static const struct generator {
    const char *name;
    const cli_verb *verb;
    const char *verb_name;
} generators[] = {
    {"ising", &cli_verb_generate_ising, "partition generate ising"},
    {"potts", &cli_verb_generate_potts, "partition generate potts"},
};

static const struct generator *find_generator(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof generators / sizeof generators[0]; i++) {
        if (strcmp(name, generators[i].name) == 0) {
            return &generators[i];
        }
    }
    return NULL;
}

static int divide_generated(cli_arguments *arguments, request *r)
{
    gbs_error err = {GBS_OK, ""};
    gbs_partition *partition = NULL;
    gbs_generate_ising_options ising;
    gbs_generate_potts_options potts;
    const int is_ising = arguments->verb == &cli_verb_generate_ising;
    int done =
        is_ising ? cli_ising_options(arguments, &ising) : cli_potts_options(arguments, &potts);
    if (done != CLI_DONE) {
        return done;
    }
    if (r->parts != GBS_PARTS_AUTO && r->parts != GBS_PARTS_BISECTION) {
        return cli_error(CLI_USAGE,
                         "--parts %s: a lattice that is not made is divided by bisection",
                         gbs_parts_name(r->parts));
    }
    if (cli_given(arguments, "format")) {
        return cli_error(CLI_USAGE, "--format applies to models that are written, not to shares");
    }
    r->folder = arguments->output;
    gbs_set_memory_limit(arguments->run.memory_limit);
    const gbs_status status =
        is_ising ? gbs_partition_new_of_ising(&ising, r->n_ranks, &partition, &err)
                 : gbs_partition_new_of_potts(&potts, r->n_ranks, &partition, &err);
    done = status < 0 ? cli_fail(status, &err) : write_folder(partition, r);
    gbs_partition_free(partition);
    return done;
}

/* Removes -n, --ranks and --parts from the words; the remaining words are words of the verb
 * `marginals`. */
static int take_words(int *argc, char **argv, request *r)
{
    int n = 0;
    int status = CLI_DONE;
    for (int i = 0; i < *argc && status == CLI_DONE; i++) {
        uint64_t number = 0;
        const char *parts = mpi_value_of("--parts", *argc, argv, &i);
        const char *ranks = parts == NULL ? mpi_value_of("-n", *argc, argv, &i) : NULL;
        ranks = parts == NULL && ranks == NULL ? mpi_value_of("--ranks", *argc, argv, &i) : ranks;
        if (parts != NULL) {
            status = mpi_parse_parts(parts, &r->parts);
        } else if (ranks == NULL) {
            argv[n++] = argv[i];
        } else if (cli_parse_uint(ranks, &number) && number > 0 && number <= UINT32_MAX) {
            r->n_ranks = (uint32_t)number;
        } else {
            status = cli_error(CLI_USAGE, "-n %s: expected a number of ranks", ranks);
        }
    }
    argv[n] = NULL;
    *argc = n;
    return status;
}

static int check(const cli_arguments *arguments, const request *r, int n_operands)
{
    if (arguments->n_operands != n_operands) {
        return cli_error(CLI_USAGE, "partition: expected MODEL -n RANKS -o FOLDER");
    }
    if (r->n_ranks == 0) {
        return cli_error(CLI_USAGE, "partition: for how many ranks? type -n RANKS");
    }
    return arguments->output == NULL || strcmp(arguments->output, "-") == 0
               ? cli_error(CLI_USAGE, "partition: shares go to a folder: type -o FOLDER")
               : CLI_DONE;
}

int mpi_partition(int argc, char **argv)
{
    request r = {.parts = GBS_PARTS_AUTO};
    cli_arguments arguments;
    cli_job job;
    memset(&arguments, 0, sizeof arguments);
    memset(&job, 0, sizeof job);
    int status = take_words(&argc, argv, &r);
    if (status != CLI_DONE) {
        return status;
    }
    cli_signals_end(); /* from here on, signals end the process: an unfinished share is lost, and
                          the folder is incomplete until the names, which come last, are written */
    const int generates = argc > 2 && strcmp(argv[2], "generate") == 0;
    const struct generator *generator = generates ? find_generator(argv[3]) : NULL;
    if (generates && generator == NULL) {
        return cli_error(CLI_USAGE, "partition generate: only ising and potts can be divided "
                                    "without a model file: partition generate ising --grid RxC -n "
                                    "RANKS -o FOLDER");
    }
    const cli_verb *verb = generates ? generator->verb : &cli_verb_marginals;
    const int first = generates ? 3 : 1;
    arguments.argc = argc;
    arguments.argv = argv;
    status = cli_parse(verb, generates ? generator->verb_name : "partition", argc - first,
                       argv + first, &arguments);
    status = status == CLI_DONE ? check(&arguments, &r, generates ? 0 : 1) : status;
    if (status == CLI_DONE && generates) {
        status = divide_generated(&arguments, &r);
    } else if (status == CLI_DONE) {
        r.folder = arguments.output;
        gbs_set_memory_limit(arguments.run.memory_limit);
        status = cli_load(&job, &arguments, arguments.operand[0]);
        status = status == CLI_DONE ? divide(&job, &r) : status;
        cli_job_free(&job);
    }
    cli_arguments_free(&arguments);
    return status;
}
