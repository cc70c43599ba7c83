/* SPDX-License-Identifier: Apache-2.0 */
/* mpirun gibbsite-mpi VERB [options] MODEL: gibbsite on the ranks of an MPI job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "divide.h"
#include "gibbsite/mpi.h"
#include "job/job.h"
#include "job/ranks.h"

static int print_help(void)
{
    (void)fputs("usage: mpirun -n RANKS gibbsite-mpi marginals|sample [options] MODEL|FOLDER\n"
                "       mpirun -n RANKS gibbsite-mpi logz [options] MODEL\n"
                "       gibbsite-mpi partition [options] MODEL -n RANKS -o FOLDER\n"
                "       gibbsite-mpi partition generate ising|potts --grid SIDES [options]\n"
                "                   -n RANKS -o FOLDER\n\n"
                "Runs chains on the ranks of an MPI job, with the same answers, bit by bit, on\n"
                "any number of ranks and threads. The first rank writes. With --distribute model\n"
                "answers of --scan splash depend on the number of ranks and on --parts.\n\n"
                "  marginals        marginal distributions, with Monte Carlo errors\n"
                "  sample           joint samples, one per sweep and chain\n"
                "  logz             the partition function, exact, by ladders or by annealing\n"
                "  partition        divides a model once, into a folder with a share for each\n"
                "                   rank, so that no rank of later runs reads all of it; with\n"
                "                   the words of 'gibbsite generate ising' or potts, a lattice\n"
                "                   that is never made, in the memory of one share\n\n"
                "Options are those of gibbsite(1): 'gibbsite help marginals' lists them, and\n"
                "  --distribute chains|model\n"
                "                   chains: every rank has the whole model and some of the\n"
                "                   chains; model: a part of the variables [chains]\n"
                "  --parts KIND     who owns what, on which only splashes depend: metis,\n"
                "                   bisection, breadth, intervals, or auto [auto]\n"
                "  --threads N      of each rank\n\n"
                "For example, a model for 64 chains on 4 ranks of 2 threads each:\n"
                "  mpirun -n 4 gibbsite-mpi marginals model.uai --chains 64 --threads 2\n"
                "Or parts of a model on 4 ranks, divided before:\n"
                "  gibbsite-mpi partition model.gbm -n 4 -o parts\n"
                "  mpirun -n 4 gibbsite-mpi marginals parts -o marginals.csv\n",
                stdout);
    return cli_flush(stdout);
}

/* Removes --distribute and --parts from the words. @return an exit status. */
static int take_words(int *argc, char **argv)
{
    int n = 0;
    int status = CLI_DONE;
    for (int i = 0; i < *argc && status == CLI_DONE; i++) {
        const char *parts = mpi_value_of("--parts", *argc, argv, &i);
        const char *value = parts == NULL ? mpi_value_of("--distribute", *argc, argv, &i) : NULL;
        if (parts != NULL) {
            status = mpi_parse_parts(parts, &cli_here.parts);
        } else if (value == NULL) {
            argv[n++] = argv[i];
        } else if (strcmp(value, "chains") == 0 || strcmp(value, "model") == 0) {
            cli_here.by_model = strcmp(value, "model") == 0;
        } else {
            status = cli_error(CLI_USAGE, "--distribute %s: expected chains or model", value);
        }
    }
    argv[n] = NULL;
    *argc = n;
    return status;
}

static int check_verb(const char *verb)
{
    return strcmp(verb, "marginals") == 0 || strcmp(verb, "sample") == 0 ||
                   strcmp(verb, "logz") == 0
               ? CLI_DONE
               : cli_error(CLI_USAGE,
                           "'%s': the verbs are marginals, sample, logz and partition; for all "
                           "others type gibbsite %s ...",
                           verb, verb);
}

/* Refuses verbs and options that work in one process only. Refuses standard input, which only the
 * first rank can read. */
static int check_words(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        const int is_input = strcmp(argv[i], "-") == 0 && strcmp(argv[i - 1], "-o") != 0 &&
                             strcmp(argv[i - 1], "--output") != 0;
        if (is_input) {
            return cli_error(CLI_USAGE, "-: standard input reaches the first rank only: name a "
                                        "file that all ranks can read");
        }
        if (strncmp(argv[i], "--cases", 7) == 0) {
            return cli_error(CLI_USAGE, "--cases: tables of cases are answered by one process: "
                                        "type gibbsite marginals ... --cases");
        }
    }
    return CLI_DONE;
}

static int compare(const gbs_ranks *ranks, const char *what, const char *own)
{
    char first[64] = "";
    gbs_error err = {GBS_OK, ""};
    (void)snprintf(first, sizeof first, "%s", own);
    const gbs_status status = ranks->broadcast(ranks->context, 0, first, sizeof first, &err);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    return strncmp(first, own, sizeof first - 1) == 0
               ? CLI_DONE
               : cli_error(CLI_FAILED, "has %s %s, rank 0 has %s: all ranks need the same", what,
                           own, first);
}

/* Reads the words of the command line on all ranks, and checks that all have the same version, verb
 * and --distribute. A rank of another version may read the words differently. A rank with another
 * verb would send messages at other times than the other ranks. */
static int read_words(const gbs_ranks *ranks, int *argc, char **argv)
{
    const int version = compare(ranks, "version", gbs_version());
    const int taken = take_words(argc, argv);
    const int verb = compare(ranks, "verb", *argc > 1 ? argv[1] : "");
    const int divided = compare(ranks, "--distribute", cli_here.by_model ? "model" : "chains");
    return cli_meet(version != CLI_DONE ? version
                    : taken != CLI_DONE ? taken
                    : verb != CLI_DONE  ? verb
                                        : divided);
}

static int run(int argc, char **argv, const gbs_ranks *ranks)
{
    char **typed = calloc((size_t)argc + 1, sizeof *typed);
    if (typed == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    memcpy(typed, argv, (size_t)argc * sizeof *typed);
    const int n_typed = argc;
    int status = read_words(ranks, &argc, argv);
    status = status == CLI_DONE ? check_verb(argc > 1 ? argv[1] : "") : status;
    status = status == CLI_DONE ? check_words(argc, argv) : status;
    status = status == CLI_DONE ? cli_program(argc, argv, n_typed, typed) : status;
    free(typed);
    return cli_meet(status);
}

/* Whether the program's own help is asked for; the verb itself handles 'marginals --help' and the
 * like. */
static int asks_for_help(int argc, char **argv)
{
    const char *last = argc < 2 ? "" : argv[argc - 1];
    return argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
           strcmp(argv[1], "-h") == 0 ||
           (strcmp(argv[1], "partition") == 0 &&
            (strcmp(last, "--help") == 0 || strcmp(last, "-h") == 0));
}

int main(int argc, char **argv)
{
    gbs_ranks ranks;
    gbs_error err = {GBS_OK, ""};
    int level = MPI_THREAD_SINGLE;
    cli_here.program = "gibbsite-mpi";
    cli_open_standard_streams();
    if (asks_for_help(argc, argv)) {
        return print_help();
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        (void)printf("gibbsite-mpi %s\n", gbs_version());
        return cli_flush(stdout);
    }
    if (strcmp(argv[1], "partition") == 0) { /* divides a model in one process */
        return mpi_partition(argc, argv);
    }
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        return cli_error(CLI_FAILED, "MPI cannot be initialised");
    }
    if (gbs_mpi_ranks(MPI_COMM_WORLD, &ranks, &err) < 0) {
        (void)cli_fail(GBS_ERR_STATE, &err);
        gbs_mpi_abort(NULL, CLI_FAILED);
    }
    cli_here.ranks = &ranks;
    cli_here.abort = gbs_mpi_abort;
    if (ranks.rank > 0 && freopen("/dev/null", "w", stdout) == NULL) {
        return cli_leave(cli_error(CLI_FAILED, "/dev/null: cannot be opened"));
    }
    cli_signals_end();
    const int status = run(argc, argv, &ranks);
    gbs_mpi_ranks_free(&ranks);
    MPI_Finalize();
    return status;
}
