/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one clause in each line. A reader numbers variables in the order in which they occur. If
 * the clauses have another order or miss a variable, the file begins with clauses of weight 0 that
 * name all variables. */
#include <string.h>

#include "base/status.h"
#include "decimal/decimal.h"
#include "models/clauses.h"
#include "models/couplings.h"
#include "models/formats.h"
#include "models/tables.h"
#include "store/model.h"

/* Makes a name legal. In this format a blank ends a name, '!' begins a negated literal, "//" begins
 * a comment, a period ends a clause, and v joins two literals. */
static void make_legal(const char *name, bool is_state, char *legal)
{
    const size_t n = strlen(name);
    (void)is_state;
    for (size_t i = 0; i < n; i++) {
        const bool begins = i == 0 && (name[0] == '!' || strncmp(name, "//", 2) == 0);
        const bool ends = i + 1 == n && name[i] == '.';
        legal[i] = (char)(begins || ends || gbsi_is_blank(name[i]) ? '_' : name[i]);
    }
    legal[n] = 0;
    if (strcmp(name, "v") == 0) {
        memcpy(legal, "v_", 3);
    }
}

static bool is_number(const char *name)
{
    double value = 0;
    return gbsi_decimal_read(name, strlen(name), &value) != GBSI_DECIMAL_BAD;
}

/* Whether a name begins with bytes that a reader would take for another kind of file: a
 * byte-order mark, or zstd compression. gzip begins with a control character, which no name
 * contains. */
static bool is_mark(const char *name)
{
    return strncmp(name, "\xef\xbb\xbf", 3) == 0 || strncmp(name, "\x28\xb5\x2f\xfd", 4) == 0;
}

/* Writes a name.
 * @param first whether the name is the first word of a hard clause. A number would be read as a
 *   weight there, and a mark (see is_mark()) could begin the file. */
static gbs_status write_name(const char *name, bool first, gbs_output *output, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    if (first && (is_number(name) || is_mark(name))) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "a variable has the name %s, which cannot be read back from mln files",
                         gbsi_token_show((gbsi_token){name, strlen(name)}, shown));
    }
    gbsi_output_text(output, name);
    return GBS_OK;
}

static gbs_status write_clause(const gbsi_names *names, const gbsi_clause *clause,
                               gbs_output *output, gbs_error *err)
{
    const bool hard = clause->weight == GBSI_HARD;
    if (!hard) {
        gbsi_output_double(output, clause->weight);
        gbsi_output_text(output, " ");
    }
    for (uint32_t k = 0; k < clause->n; k++) {
        const bool positive = gbsi_clause_positive(clause, k);
        gbsi_output_text(output, k == 0 ? "" : " v ");
        gbsi_output_text(output, positive ? "" : "!");
        GBSI_PASS(
            write_name(names->variable[clause->scope[k]], hard && k == 0 && positive, output, err));
    }
    gbsi_output_text(output, hard ? ".\n" : "\n");
    return GBS_OK;
}

/* Whether the clauses mention all variables, for the first time in the order 0, 1, ... */
static bool in_order(const gbs_model *model)
{
    const gbsi_factors *factors = &model->factors;
    uint32_t next = 0;
    for (size_t i = 0; i < factors->scope_start[factors->n_factors]; i++) {
        if (factors->scope[i] > next) {
            return false;
        }
        next += factors->scope[i] == next;
    }
    return next == model->n_variables;
}

gbs_status gbsi_mln_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_first = in_order(model) ? 0 : model->n_variables;
    double constant = 0;
    gbsi_names names;
    GBSI_TRY(gbsi_names_init(&names, model, make_legal, "mln", output, options, err));
    for (uint32_t v = 0; v < n_first; v++) {
        gbsi_output_text(output, "0 ");
        GBSI_TRY(write_name(names.variable[v], false, output, err));
        gbsi_output_text(output, "\n");
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        gbsi_clause clause;
        GBSI_TRY(gbsi_clause_of(model, f, "mln", false, &clause, err));
        constant += clause.constant;
        if (clause.n != 0) {
            GBSI_TRY(write_clause(&names, &clause, output, err));
        }
    }
    GBSI_TRY(gbsi_clauses_check(model, "mln", err));
    gbsi_tell_constant(options, output, "mln", constant);

cleanup:
    gbsi_names_free(&names);
    return status;
}
