/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the answer file. The program may be killed during a write, and therefore never appends to
 * the answer file itself. For every improvement, a new file with the old content and one more
 * solution replaces the old file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uai.h"

int cli_answer_init(cli_answer *answer, const cli_arguments *arguments, const char *task)
{
    const char *model = arguments->operand[0];
    const char *slash = strrchr(model, '/');
    const char *base = slash != NULL ? slash + 1 : model;
    const size_t size = strlen(base) + strlen(task) + 2;
    if (arguments->output != NULL) {
        answer->path = strdup(arguments->output);
    } else {
        answer->path = malloc(size);
        if (answer->path != NULL) {
            (void)snprintf(answer->path, size, "%s.%s", base, task);
        }
    }
    CLI_PASS(CLI_HAVE(answer->path));
    answer->word = task;
    answer->base = arguments->log_base != NULL && arguments->log_base[0] == 'e' ? GBS_LOG_BASE_E
                                                                                : GBS_LOG_BASE_10;
    return cli_check_output(answer->path);
}

void cli_answer_free(cli_answer *answer)
{
    free(answer->path);
    memset(answer, 0, sizeof *answer);
}

static void copy_file(gbs_output *output, const char *path)
{
    static char piece[1 << 16];
    FILE *file = fopen(path, "rb");
    size_t n = 0;
    while (file != NULL && (n = fread(piece, 1, sizeof piece, file)) > 0) {
        gbsi_output_bytes(output, piece, n);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Writes a solution after the earlier solutions of this run; older contents of the file are
 * dropped. */
static gbs_status write_solution(cli_answer *answer, const gbs_result *result, int improving,
                                 gbs_error *err)
{
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open(answer->path, &output, err);
    if (status < 0) {
        return status;
    }
    if (answer->n_solutions > 0) {
        copy_file(output, answer->path);
    } else {
        gbsi_output_text(output, answer->word);
        gbsi_output_text(output, "\n");
    }
    if (improving || answer->n_solutions > 0) {
        gbsi_output_text(output, "-BEGIN-\n");
    }
    gbsi_result_write_solution(output, result, answer->base);
    status = gbs_output_commit(output, err);
    answer->n_solutions += status >= 0 ? 1 : 0;
    return status;
}

gbs_status cli_answer_improve(cli_answer *answer, const gbs_result *result, gbs_error *err)
{
    return write_solution(answer, result, 1, err);
}

gbs_status cli_answer_finish(cli_answer *answer, const gbs_result *result, gbs_error *err)
{
    return write_solution(answer, result, 0, err);
}

void cli_answer_withdraw(cli_answer *answer)
{
    if (answer->n_solutions > 0) {
        (void)unlink(answer->path);
        answer->n_solutions = 0;
    }
}
