/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a model of spins as a list of couplings in Matrix Market, rudy or COO, with the signs
 * of a convention. */
#include "base/status.h"
#include "models/couplings.h"
#include "models/formats.h"
#include "text/lines.h"
#include "text/output.h"

typedef struct coupling_writer {
    gbs_output *output;
    double sign;
    gbsi_convention convention;
    gbsi_spin_list spins;
} coupling_writer;

typedef struct coupling_format {
    const char *name;
    gbsi_convention own;
    /* whether the format has fields; the convention maxcut allows none in any format */
    bool fields;
    bool constant;
} coupling_format;

static gbs_status begin(coupling_writer *w, const gbs_model *model, gbs_output *output,
                        const gbs_write_options *options, coupling_format format, gbs_error *err)
{
    *w = (coupling_writer){.output = output};
    GBSI_PASS(gbsi_convention_of(options->convention, format.own, &w->convention, err));
    w->sign = gbsi_convention_sign(w->convention);
    GBSI_PASS(gbsi_spin_list_of_model(
        model, format.name, format.fields && w->convention != GBSI_MAXCUT, &w->spins, err));
    if (!format.constant) {
        gbsi_tell_constant(options, output, format.name, w->spins.constant);
    }
    return GBS_OK;
}

static bool is_coupling(gbsi_edge e)
{
    return e.i != GBS_NO_PAIR && e.value != 0;
}

static uint64_t count_couplings(const gbsi_spin_list *spins)
{
    const gbsi_edge *edge = spins->edges.edge;
    uint64_t n = 0;
    for (size_t e = 0; e < spins->edges.n; e++) {
        n += is_coupling(edge[e]);
    }
    return n;
}

static void write_entry(coupling_writer *w, uint64_t i, uint64_t j, double value)
{
    gbsi_output_uint(w->output, i);
    gbsi_output_text(w->output, " ");
    gbsi_output_uint(w->output, j);
    gbsi_output_text(w->output, " ");
    gbsi_output_double(w->output, value == 0 ? 0 : w->sign * value); /* -0 is written as 0 */
    gbsi_output_text(w->output, "\n");
}

/* Writes the couplings.
 * @param base number of the first variable in the file.
 * @param lower whether the larger number of each pair comes first. */
static void write_couplings(coupling_writer *w, uint64_t base, bool lower)
{
    const gbsi_edge *edge = w->spins.edges.edge;
    for (size_t e = 0; e < w->spins.edges.n; e++) {
        if (is_coupling(edge[e])) {
            bool swap = (edge[e].i < edge[e].j) == lower;
            write_entry(w, base + (swap ? edge[e].j : edge[e].i),
                        base + (swap ? edge[e].i : edge[e].j), edge[e].value);
        }
    }
}

static void write_fields(coupling_writer *w, uint64_t base)
{
    for (uint32_t v = 0; v < w->spins.n_variables; v++) {
        if (w->spins.field[v] != 0) {
            write_entry(w, base + v, base + v, w->spins.field[v]);
        }
    }
}

gbs_status gbsi_mtx_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    coupling_writer w;
    GBSI_TRY(begin(&w, model, output, options,
                   (coupling_format){"mtx", GBSI_MTX_CONVENTION, true, false}, err));
    uint64_t n_entries = count_couplings(&w.spins);
    for (uint32_t v = 0; v < w.spins.n_variables; v++) {
        n_entries += w.spins.field[v] != 0;
    }
    gbsi_output_text(output, "%%MatrixMarket matrix coordinate real symmetric\n"
                             "% couplings, fields on the diagonal, convention ");
    gbsi_output_text(output, gbsi_convention_name(w.convention));
    gbsi_output_text(output, "\n");
    gbsi_output_uint(output, w.spins.n_variables);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, w.spins.n_variables);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, n_entries);
    gbsi_output_text(output, "\n");
    write_fields(&w, 1);
    write_couplings(&w, 1, true);
    gbsi_tell_most_variables(options, output, w.spins.n_variables);

cleanup:
    gbsi_spin_list_free(&w.spins);
    return status;
}

gbs_status gbsi_rud_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    coupling_writer w;
    GBSI_TRY(begin(&w, model, output, options,
                   (coupling_format){"rud", GBSI_RUD_CONVENTION, false, false}, err));
    gbsi_output_uint(output, w.spins.n_variables);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, count_couplings(&w.spins));
    gbsi_output_text(output, "\n");
    write_couplings(&w, 1, false);
    gbsi_tell_most_variables(options, output, w.spins.n_variables);

cleanup:
    gbsi_spin_list_free(&w.spins);
    return status;
}

/* Writes an entry of value 0 for the last variable if no other entry names that variable. A reader
 * takes the largest number in the file, plus one, as the number of variables. */
static void write_last_variable(coupling_writer *w)
{
    const gbsi_edge *edge = w->spins.edges.edge;
    const uint32_t n = w->spins.n_variables;
    bool named = n == 0 || w->spins.field[n - 1] != 0;
    for (size_t e = 0; e < w->spins.edges.n && !named; e++) {
        named = is_coupling(edge[e]) && (edge[e].i == n - 1 || edge[e].j == n - 1);
    }
    if (!named) {
        write_entry(w, n - 1, n - 1, 0);
    }
}

gbs_status gbsi_coo_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    coupling_writer w;
    GBSI_TRY(begin(&w, model, output, options,
                   (coupling_format){"coo", GBSI_COO_CONVENTION, true, true}, err));
    gbsi_output_text(output, "# vartype=SPIN\n");
    if (w.spins.constant != 0) {
        gbsi_output_text(output, "# offset=");
        gbsi_output_double(output, w.sign * w.spins.constant);
        gbsi_output_text(output, "\n");
    }
    write_fields(&w, 0);
    write_couplings(&w, 0, false);
    write_last_variable(&w);
    gbsi_tell_most_variables(options, output, w.spins.n_variables);

cleanup:
    gbsi_spin_list_free(&w.spins);
    return status;
}
