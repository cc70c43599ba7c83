/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of states from files, and finds out whether a file is a table or an alignment. */
#include <string.h>

#include "base/budget.h"
#include "learn/rows.h"
#include "text/common.h"

/* @return the name of another format of alignments if the text is in this format, else NULL. */
static const char *other_format(const char *at, const char *end)
{
    static const char *const begin[][2] = {{"# STOCKHOLM", "in the Stockholm format"},
                                           {"CLUSTAL", "of Clustal"}};
    for (size_t k = 0; k < sizeof begin / sizeof begin[0]; ++k) {
        const size_t n = strlen(begin[k][0]);
        if ((size_t)(end - at) >= n && memcmp(at, begin[k][0], n) == 0) {
            return begin[k][1];
        }
    }
    return NULL;
}

static gbs_status read_input(const gbsi_input *input, gbs_alphabet alphabet, gbs_rows **rows,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text text;
    gbs_rows *found = NULL;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbsi_text_open(&text, input, NULL, err));
    const char *at = text.at;
    while (at < text.end && gbsi_is_blank(*at)) {
        ++at;
    }
    const char *other = other_format(at, text.end);
    if (other != NULL) {
        GBSI_TRY(gbsi_text_fail(&text, (gbsi_token){at, 0}, err,
                                "found an alignment %s, expected one in FASTA", other));
    }
    if (at < text.end && *at == '>') {
        text.at = at;
        GBSI_TRY(gbsi_rows_read_fasta(&text, alphabet, &found, err));
    } else if (alphabet != GBS_ALPHABET_AUTO) {
        GBSI_TRY(gbsi_text_fail(&text, (gbsi_token){at, at < text.end ? 1 : 0}, err,
                                "found a table of states, expected an alignment in FASTA, whose "
                                "alphabet is named"));
    } else {
        GBSI_TRY(gbsi_rows_csv(&text, &found, err));
    }
    if (found->n == 0) {
        GBSI_TRY(gbsi_text_fail(&text, (gbsi_token){text.end, 0}, err,
                                "found no rows, expected some below the names"));
    }
    *rows = found;
    found = NULL;

cleanup:
    gbs_rows_free(found);
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_rows_read_as(const char *name, const void *bytes, size_t n_bytes,
                            gbs_alphabet alphabet, gbs_rows **rows, gbs_error *err)
{
    GBSI_NEED(name, rows);
    if ((int)alphabet < GBS_ALPHABET_AUTO || alphabet > GBS_ALPHABET_DNA) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no alphabet number %d", (int)alphabet);
    }
    gbsi_input input;
    gbs_status status = bytes == NULL ? gbsi_input_read_text(name, &input, err)
                                      : gbsi_input_memory(name, bytes, n_bytes, &input, err);
    if (status >= 0) {
        status = gbsi_input_decode(&input, NULL, err);
        status = status < 0 ? status : read_input(&input, alphabet, rows, err);
        gbsi_input_free(&input);
    }
    return status;
}
