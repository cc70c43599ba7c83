/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the object that a page shows of marginals: some variables, and the distributions of
 * R-hat and effective sample sizes over all variables. A summary therefore stays small for any
 * model. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "chains/run.h"
#include "drawings/network.h"
#include "report/summary.h"
#include "simd/math.h"

enum {
    SHOWN = 40,                       /* number of variables */
    SHOWN_STATES = GBSI_DRAWN_STATES, /* number of states of a variable */
    MOST_ENTRIES = 400, /* total number of variables of all factors, in a network that is drawn */
    MOST_FACTORS = 100000, /* of a model that is searched for neighbours of queried variables */
    MOST_BINS = 40,
    LEAST_BINS = 8,
};

typedef struct marginals {
    const gbs_model *model;
    const size_t *offset;
    const uint32_t
        *variable; /* [n] variables that the user asked for; NULL stands for variables 0 .. n - 1 */
    size_t n;
    double *p, *mcse, *ess, *rhat;
    uint32_t shown[SHOWN];
    size_t n_shown;
    /* the variables with the largest errors are shown, because there are too many to show all */
    bool by_error;
} marginals;

static uint32_t variable_at(const marginals *m, size_t i)
{
    return m->variable == NULL ? (uint32_t)i : m->variable[i];
}

/* Whether a variable has estimates. After a partial scan some variables have no estimates. */
static bool has_estimate(const marginals *m, uint32_t v)
{
    return !isnan(m->p[m->offset[v]]);
}

static const char *variable_text(const gbs_model *model, uint32_t v, char text[32])
{
    const char *name = gbs_model_variable_name(model, v);
    (void)snprintf(text, 32, "%u", v);
    return name == NULL ? text : name;
}

static const char *state_text(const gbs_model *model, uint32_t v, uint32_t a, char text[32])
{
    const char *label = gbs_model_state_label(model, v, a);
    (void)snprintf(text, 32, "%u", a);
    return label == NULL ? text : label;
}

/* ---- which variables ------------------------------------------------------------------------- */

/* Measures of the uncertainty about a variable: its error, then 1 minus its largest probability. */
typedef struct doubt {
    double error, open;
} doubt;

static doubt doubt_of(const marginals *m, uint32_t v)
{
    doubt d = {0.0, 0.0};
    double most = 0.0;
    for (size_t i = m->offset[v]; i < m->offset[v + 1]; i++) {
        /* NaN, an unknown error, is skipped */
        d.error = m->mcse[i] > d.error ? m->mcse[i] : d.error;
        most = m->p[i] > most ? m->p[i] : most;
    }
    d.open = 1.0 - most;
    return d;
}

static bool is_before(doubt a, doubt b)
{
    return a.error != b.error ? a.error > b.error : a.open > b.open;
}

static void choose(marginals *m)
{
    doubt of[SHOWN];
    size_t n_with = 0;
    for (size_t i = 0; i < m->n; i++) {
        n_with += has_estimate(m, variable_at(m, i));
    }
    m->by_error = n_with > SHOWN;
    for (size_t i = 0; i < m->n; i++) {
        const uint32_t v = variable_at(m, i);
        if (!has_estimate(m, v)) {
            continue;
        }
        const doubt d = doubt_of(m, v);
        size_t at = m->n_shown;
        m->n_shown += m->n_shown < SHOWN;
        for (; m->by_error && at > 0 && is_before(d, of[at - 1]); at--) {
            if (at < SHOWN) {
                m->shown[at] = m->shown[at - 1];
                of[at] = of[at - 1];
            }
        }
        if (at < SHOWN) {
            m->shown[at] = v;
            of[at] = d;
        }
    }
}

/* ---- one variable ---------------------------------------------------------------------------- */

static void write_variable(gbs_output *output, const marginals *m, uint32_t v)
{
    char text[32];
    uint32_t state[SHOWN_STATES];
    const size_t arity = m->offset[v + 1] - m->offset[v];
    const size_t n = gbsi_most_probable(m->p + m->offset[v], arity, state, SHOWN_STATES);
    gbsi_output_text(output, "{\"id\": ");
    gbsi_output_uint(output, v);
    gbsi_summary_text(output, "name", variable_text(m->model, v, text));
    gbsi_summary_uint(output, "arity", arity);
    gbsi_output_text(output, ", \"states\": [");
    for (size_t k = 0; k < n; k++) {
        const size_t row = m->offset[v] + state[k];
        gbsi_output_text(output, k > 0 ? ",\n     {\"state\": " : "\n     {\"state\": ");
        gbsi_output_json_string(output, state_text(m->model, v, state[k], text));
        gbsi_summary_real(output, "p", m->p[row]);
        gbsi_summary_real(output, "mcse", m->mcse[row]);
        gbsi_summary_real(output, "ess", m->ess[row]);
        gbsi_summary_real(output, "rhat", m->rhat[row]);
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "]}");
}

/* ---- distributions --------------------------------------------------------------------------- */

typedef struct spread {
    size_t n, n_above; /* number of finite values, and number of finite values above a limit */
    double least, most;
    uint32_t variable, state; /* variable and state of the worst value */
} spread;

static spread spread_of(const marginals *m, const double *value, bool worst_is_most)
{
    spread s = {.least = INFINITY, .most = -INFINITY};
    for (size_t i = 0; i < m->n; i++) {
        const uint32_t v = variable_at(m, i);
        for (size_t row = m->offset[v]; row < m->offset[v + 1]; row++) {
            if (!isfinite(value[row])) {
                continue;
            }
            if (worst_is_most ? value[row] > s.most : value[row] < s.least) {
                s.variable = v;
                s.state = (uint32_t)(row - m->offset[v]);
            }
            s.n++;
            s.n_above += value[row] > GBSI_RHAT_LIMIT;
            s.least = value[row] < s.least ? value[row] : s.least;
            s.most = value[row] > s.most ? value[row] : s.most;
        }
    }
    return s;
}

static size_t bin_of(const double *edge, size_t n_bins, double value)
{
    size_t bin = 0;
    while (bin + 1 < n_bins && value >= edge[bin + 1]) {
        bin++;
    }
    return bin;
}

static void write_counts(gbs_output *output, const marginals *m, const double *value,
                         const double *edge, size_t n_bins)
{
    size_t count[MOST_BINS] = {0};
    for (size_t i = 0; i < m->n; i++) {
        const uint32_t v = variable_at(m, i);
        for (size_t row = m->offset[v]; row < m->offset[v + 1]; row++) {
            if (isfinite(value[row])) {
                count[bin_of(edge, n_bins, value[row])]++;
            }
        }
    }
    gbsi_output_text(output, ", \"counts\": [");
    for (size_t b = 0; b < n_bins; b++) {
        gbsi_output_text(output, b > 0 ? ", " : "");
        gbsi_output_uint(output, count[b]);
    }
    gbsi_output_text(output, "]");
}

/* Writes a histogram. Bins of R-hat have equal widths. Bins of effective sample sizes, which are
 * positive, have edges in equal proportions. */
static void write_distribution(gbs_output *output, const marginals *m, const double *value,
                               bool is_rhat)
{
    char text[32];
    double edge[MOST_BINS + 1];
    const spread s = spread_of(m, value, is_rhat);
    if (s.n == 0 || (!is_rhat && !(s.least > 0.0))) {
        gbsi_output_text(output, "null");
        return;
    }
    size_t n_bins = LEAST_BINS;
    while (n_bins < MOST_BINS && n_bins * n_bins < s.n) {
        n_bins++;
    }
    const double least = is_rhat ? s.least - 1e-6 : s.least * 0.999;
    const double most = is_rhat ? s.most + 1e-6 : s.most * 1.001;
    for (size_t b = 0; b <= n_bins; b++) {
        const double share = (double)b / (double)n_bins;
        edge[b] = is_rhat ? least + share * (most - least) : least * gbsi_pow(most / least, share);
    }
    gbsi_output_text(output, "{\"values\": ");
    gbsi_output_uint(output, s.n);
    gbsi_summary_real(output, "least", s.least);
    gbsi_summary_real(output, "most", s.most);
    gbsi_summary_text(output, "variable", variable_text(m->model, s.variable, text));
    gbsi_summary_text(output, "state", state_text(m->model, s.variable, s.state, text));
    if (is_rhat) {
        gbsi_summary_real(output, "limit", GBSI_RHAT_LIMIT);
        gbsi_summary_uint(output, "above", s.n_above);
    }
    gbsi_summary_reals(output, "edges", edge, n_bins + 1);
    write_counts(output, m, value, edge, n_bins);
    gbsi_output_text(output, "}");
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Gives a position to each variable that is drawn: its position among the shown variables, or after
 * these for a variable that is drawn because it shares a factor with a queried one.
 * @param position [n_variables] out: GBSI_NONE if the variable is not drawn. */
static void find_positions(const marginals *m, uint32_t *position)
{
    memset(position, 0, m->model->n_variables * sizeof *position);
    if (m->variable != NULL) {
        gbsi_drawn_near(m->model, m->variable, m->n, position);
    }
    uint32_t n_others = 0;
    for (uint32_t v = 0; v < m->model->n_variables; v++) {
        uint32_t i = 0;
        if (position[v] == GBSI_NONE) {
            continue;
        }
        while (i < m->n_shown && m->shown[i] != v) {
            i++;
        }
        position[v] = i < m->n_shown ? i : (uint32_t)m->n_shown + n_others++;
    }
}

/* @return whether the factors are few enough for the page to draw them. */
static bool is_drawn(const marginals *m, const uint32_t *position)
{
    size_t n = 0;
    for (size_t f = 0; f < m->model->factors.n_factors && n <= MOST_ENTRIES; f++) {
        n += gbsi_drawn_scope(m->model, f, position, NULL);
    }
    return n <= MOST_ENTRIES;
}

static void write_positions(gbs_output *output, const uint32_t *position, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        gbsi_output_uint(output, position[i]);
    }
}

/* Writes the graph: the variables of each factor by their positions, and the names of the variables
 * that are drawn without probabilities, as they were not asked for. */
static void write_network(gbs_output *output, const marginals *m, const gbs_evidence *observed,
                          const uint32_t *position)
{
    uint32_t scope[MOST_ENTRIES];
    char text[32];
    size_t n = 0;
    gbsi_output_text(output, m->model->directed ? "{\"directed\": true, \"observed\": ["
                                                : "{\"directed\": false, \"observed\": [");
    for (uint32_t v = 0; v < m->model->n_variables; v++) {
        if (position[v] != GBSI_NONE && observed != NULL &&
            gbs_evidence_state(observed, v, NULL) == 1) {
            gbsi_output_text(output, n++ > 0 ? ", " : "");
            write_positions(output, position + v, 1);
        }
    }
    n = 0;
    gbsi_output_text(output, "], \"others\": [");
    for (uint32_t v = 0; v < m->model->n_variables; v++) {
        if (position[v] != GBSI_NONE && position[v] >= m->n_shown) {
            gbsi_output_text(output, n++ > 0 ? ", " : "");
            gbsi_output_json_string(output, variable_text(m->model, v, text));
        }
    }
    n = 0;
    gbsi_output_text(output, "], \"factors\": [");
    for (size_t f = 0; f < m->model->factors.n_factors; f++) {
        const size_t length = gbsi_drawn_scope(m->model, f, position, NULL);
        if (length > 0) {
            (void)gbsi_drawn_scope(m->model, f, position, scope);
            gbsi_output_text(output, n++ > 0 ? ", [" : "[");
            write_positions(output, scope, length);
            gbsi_output_text(output, "]");
        }
    }
    gbsi_output_text(output, "]}");
}

/* Writes the network, or null if the model is too large to be drawn. */
static gbs_status write_graph(gbs_output *output, const marginals *m, const gbs_evidence *observed,
                              gbs_error *err)
{
    if (m->n_shown == 0 || m->n_shown < m->n || m->model->factors.n_factors > MOST_FACTORS) {
        gbsi_output_text(output, "null");
        return GBS_OK;
    }
    uint32_t *position = gbsi_alloc_array(m->model->n_variables, sizeof *position);
    GBSI_PASS(GBSI_HAVE(err, "summary of the network", position));
    find_positions(m, position);
    if (is_drawn(m, position)) {
        write_network(output, m, observed, position);
    } else {
        gbsi_output_text(output, "null");
    }
    gbsi_free(position);
    return GBS_OK;
}

/* ---- the member "marginals" ------------------------------------------------------------------ */

static gbs_status write_all(gbs_output *output, marginals *m, const gbs_summary_about *about,
                            const gbs_report *r, gbs_error *err)
{
    uint32_t rows = about->rows;
    uint32_t columns = about->columns;
    if (rows == 0 && r->lattice == GBS_BITS_SITES && r->lattice_side[1] == 1 &&
        r->lattice_side[2] > 1) {
        rows = r->lattice_side[2];
        columns = r->lattice_side[0];
    }
    choose(m);
    gbsi_output_text(output, "{\"variables\": ");
    gbsi_output_uint(output, m->n);
    gbsi_summary_text(output, "order", m->by_error ? "error" : "given");
    gbsi_output_text(output, ",\n   \"shown\": [");
    for (size_t i = 0; i < m->n_shown; i++) {
        gbsi_output_text(output, i > 0 ? ",\n    " : "\n    ");
        write_variable(output, m, m->shown[i]);
    }
    gbsi_output_text(output, "],\n   \"rhat\": ");
    write_distribution(output, m, m->rhat, true);
    gbsi_output_text(output, ",\n   \"ess\": ");
    write_distribution(output, m, m->ess, false);
    gbsi_output_text(output, ",\n   \"network\": ");
    GBSI_PASS(write_graph(output, m, about->observed, err));
    gbsi_output_text(output, ",\n   \"map\": ");
    const gbs_status status = gbsi_summary_map(m->model, rows, columns, m->p, m->mcse, output, err);
    gbsi_output_text(output, "}");
    return status;
}

gbs_status gbsi_summary_marginals(const gbs_run *run, const gbs_summary_about *about,
                                  gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    marginals m = {.model = gbsi_run_user_model(&run->task.shared, &run->task.problem),
                   .variable = about->query,
                   .n = about->n_query};
    if (gbs_run_report(run)->n_watched > 0) { /* a run on a picture shows pictures instead */
        gbsi_output_text(output, "null");
        return GBS_OK;
    }
    m.offset = gbs_model_state_offsets(m.model);
    const uint32_t n_variables = gbs_model_n_variables(m.model);
    const size_t n = m.offset[n_variables];
    m.n = m.variable == NULL ? n_variables : m.n;
    m.p = gbsi_alloc_array(n + 1, 4 * sizeof *m.p);
    GBSI_PASS(GBSI_HAVE(err, "summary of marginals", m.p));
    m.mcse = m.p + n;
    m.ess = m.mcse + n;
    m.rhat = m.ess + n;
    status = gbs_run_marginals(run, m.p, m.mcse, m.ess, m.rhat, err);
    if (status >= 0) {
        status = write_all(output, &m, about, gbs_run_report(run), err);
    } else if (status == GBS_ERR_STATE) { /* traces are kept instead, or no draw was made */
        gbsi_output_text(output, "null");
        status = GBS_OK;
    }
    gbsi_free(m.p);
    return status;
}
