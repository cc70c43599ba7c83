/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a UAI result of whatever task its first word tells, and written again. */
#include <math.h>
#include <string.h>

#include "answers/answers.h"
#include "fuzz.h"
#include "text/output.h"

static gbs_status read_with(const char *path, int lenient, gbs_result *result)
{
    gbs_error err = {0};
    const gbs_read_options options = {.lenient = lenient, .warn = fuzz_take_warning};
    gbs_status status = gbs_result_read(path, GBS_LOG_BASE_10, &options, result, &err);
    if (status < 0) {
        fuzz_check_refusal(path, status, &err);
        FUZZ_REQUIRE(result->state == NULL && result->variable == NULL);
        FUZZ_REQUIRE(result->marginals.offset == NULL);
    }
    return status;
}

static void check_result(const gbs_result *r)
{
    const gbs_marginals *m = &r->marginals;
    FUZZ_REQUIRE(r->task != GBS_TASK_PR || r->log10_z < INFINITY);
    FUZZ_REQUIRE((r->task == GBS_TASK_MAR) == (m->offset != NULL));
    for (uint32_t v = 0; r->task == GBS_TASK_MAR && v < m->n_variables; v++) {
        FUZZ_REQUIRE(m->offset[v] < m->offset[v + 1]);
    }
    FUZZ_REQUIRE((r->task == GBS_TASK_MAP || r->task == GBS_TASK_MMAP) == (r->state != NULL));
    FUZZ_REQUIRE(r->task == GBS_TASK_MMAP || r->variable == NULL);
    for (uint32_t i = 0; r->state != NULL && i < r->n; i++) {
        FUZZ_REQUIRE(r->state[i] < GBS_MAX_ARITY || r->label != NULL);
        FUZZ_REQUIRE(r->variable == NULL || r->variable[i] < GBS_MAX_VARIABLES);
    }
}

/* Checks that a result is word for word the same if it is written, read and written once more. */
static void check_written(const gbs_result *r)
{
    gbs_result back = {0};
    gbs_output *output = NULL;
    if (r->label != NULL) {
        return; /* UAI files have no labels */
    }
    char *text[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const gbs_result *from = i == 0 ? r : &back;
        FUZZ_REQUIRE(gbs_output_open_memory(&output, NULL) == GBS_OK);
        gbsi_output_text(output, gbs_task_word(from->task));
        gbsi_output_text(output, "\n");
        gbsi_result_write_solution(output, from, GBS_LOG_BASE_10);
        FUZZ_REQUIRE(gbs_output_take(output, &text[i], &n[i], NULL) == GBS_OK);
        if (i == 0) {
            FUZZ_REQUIRE(read_with(fuzz_file(text[0], n[0]), 1, &back) == GBS_OK);
            FUZZ_REQUIRE(back.task == r->task && back.n == r->n);
        }
    }
    /* Marginals are scaled to sum to one, which changes their last digits each time. */
    FUZZ_REQUIRE(r->task == GBS_TASK_MAR || (n[0] == n[1] && memcmp(text[0], text[1], n[0]) == 0));
    gbs_free(text[0]);
    gbs_free(text[1]);
    gbs_result_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    gbs_result strict = {0};
    gbs_result lenient = {0};
    gbs_status status = read_with(path, 0, &strict);
    gbs_status more = read_with(path, 1, &lenient);
    FUZZ_REQUIRE(more >= 0 || status < 0);
    if (status >= 0) {
        check_result(&strict);
        FUZZ_REQUIRE(strict.task == lenient.task && strict.n == lenient.n);
    }
    if (more >= 0) {
        check_result(&lenient);
        check_written(&lenient);
    }
    gbs_result_free(&strict);
    gbs_result_free(&lenient);
    return 0;
}
