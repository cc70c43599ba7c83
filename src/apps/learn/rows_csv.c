/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of states from a table of whole numbers. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "learn/rows.h"
#include "tables/sheet.h"
#include "text/common.h"

typedef struct reader {
    gbsi_sheet sheet;
    uint32_t first; /* column of the first site, after columns of chains and draws */
    gbs_rows *rows;
} reader;

/* ---- names ----------------------------------------------------------------------------------- */

static gbs_status check_name(const reader *r, const gbsi_cell *name, gbs_error *err)
{
    bool control = false;
    for (size_t i = 0; i < name->n; ++i) {
        control = control || gbsi_is_control(name->text + i, name->n - i);
    }
    return name->n > 0 && !control
               ? GBS_OK
               : gbsi_cell_unexpected(&r->sheet, name, "the name of a site", err);
}

/* @return whether the names in the first line are states: whole numbers that do not number the
 * columns. */
static bool are_states(const reader *r)
{
    const gbsi_cell *name = r->sheet.name;
    uint64_t first = 0;
    bool too_large = false;
    bool counts = true;
    for (uint32_t k = 0; k < r->sheet.n_columns; ++k) {
        char whole[GBSI_WHOLE];
        uint64_t number = 0;
        if (!gbsi_whole_text(name[k].text, name[k].n, whole) ||
            !gbsi_integer_read(whole, strlen(whole), UINT32_MAX, &number, &too_large)) {
            return false;
        }
        counts = counts && strcmp(whole, name[k].text) == 0;
        first = k == 0 ? number : first;
        counts = counts && number == first + k;
    }
    return !counts || first > 1;
}

static gbs_status read_names(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_name_map known = {0};
    size_t n_bytes = 0;
    const gbsi_cell *name = r->sheet.name + r->first;
    const uint32_t n = r->sheet.n_columns - r->first;
    if (n > GBS_MAX_SITES) {
        return gbsi_cell_fail(&r->sheet, name, err,
                              "found more than 65536 columns, expected at most as many");
    }
    if (are_states(r)) {
        return gbsi_cell_unexpected(&r->sheet, name,
                                    "the name of a site: the first line names the columns", err);
    }
    GBSI_TRY(gbs_rows_new(n, 2, &r->rows, err));
    for (uint32_t k = 0; k < n; ++k) {
        n_bytes += name[k].n + 1;
    }
    char *to = r->rows->names = gbsi_alloc(n_bytes);
    r->rows->name = gbsi_alloc_array_zero(n, sizeof *r->rows->name);
    GBSI_TRY(GBSI_HAVE(err, "names of sites", to, r->rows->name));
    for (uint32_t k = 0; k < n; ++k) {
        bool added = false;
        GBSI_TRY(check_name(r, &name[k], err));
        GBSI_TRY(gbsi_name_map_add(&known, 0, name[k].text, name[k].n, k, &added, err));
        if (!added) {
            GBSI_TRY(
                gbsi_cell_unexpected(&r->sheet, &name[k], "a name that no column before has", err));
        }
        r->rows->name[k] = to;
        memcpy(to, name[k].text, name[k].n + 1);
        to += name[k].n + 1;
    }

cleanup:
    gbsi_name_map_free(&known);
    return status;
}

/* ---- states ---------------------------------------------------------------------------------- */

static gbs_status read_state(reader *r, const gbsi_cell *cell, uint8_t *state, gbs_error *err)
{
    char whole[GBSI_WHOLE];
    uint64_t number = 0;
    bool too_large = false;
    const int truth = gbsi_truth(cell->text);
    if (gbsi_find_missing(cell->text, cell->n) >= 0) {
        return gbsi_cell_unexpected(&r->sheet, cell, "a state in every cell", err);
    }
    number = truth == 1;
    if (truth < 0 &&
        (!gbsi_whole_text(cell->text, cell->n, whole) ||
         !gbsi_integer_read(whole, strlen(whole), GBS_MAX_SITE_STATES - 1, &number, &too_large))) {
        return gbsi_cell_unexpected(&r->sheet, cell, "a state, 0 to 255", err);
    }
    *state = (uint8_t)number;
    r->rows->n_states = number >= r->rows->n_states ? (uint32_t)number + 1 : r->rows->n_states;
    return GBS_OK;
}

static gbs_status read_rows(reader *r, gbs_error *err)
{
    gbs_rows *rows = r->rows;
    for (;;) {
        bool more = false;
        GBSI_PASS(gbsi_sheet_next(&r->sheet, &more, err));
        if (!more) {
            break;
        }
        GBSI_PASS(gbsi_rows_reserve(rows, 1, err));
        for (uint32_t k = 0; k < rows->n_sites; ++k) {
            GBSI_PASS(read_state(r, &r->sheet.cell[r->first + k],
                                 rows->state + rows->n * rows->n_sites + k, err));
        }
        rows->weight[rows->n++] = 1.0;
    }
    return GBS_OK;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void add_note(gbs_rows *rows, const char *text)
{
    const size_t n = strlen(rows->note);
    (void)snprintf(rows->note + n, sizeof rows->note - n, "%s%s", n > 0 ? "; " : "", text);
}

gbs_status gbsi_rows_csv(const gbsi_text *text, gbs_rows **rows, gbs_error *err)
{
    gbs_status status = GBS_OK;
    reader r = {.first = 0};
    GBSI_TRY(gbsi_refuse_answers(text, true, "rows of states", err));
    GBSI_TRY(gbsi_sheet_open(&r.sheet, text, NULL, NULL, err));
    r.sheet.skip_empty = true;
    r.first = gbsi_sheet_is_draws(&r.sheet) ? GBSI_DRAW_COLUMNS : 0;
    GBSI_TRY(read_names(&r, err));
    GBSI_TRY(read_rows(&r, err));
    if (r.sheet.has_index) {
        add_note(r.rows, GBSI_INDEX_NOTE);
    }
    if (r.sheet.n_columns > 1 && strcmp(r.sheet.name[0].text, "0") == 0) {
        add_note(r.rows, "the first line, 0, 1, ..., is taken for the names of the sites");
    }
    if (r.first > 0) {
        add_note(r.rows, "chain, draw and lp of draws are left out");
    }

cleanup:
    gbsi_sheet_free(&r.sheet);
    *rows = r.rows;
    return status;
}
