/* SPDX-License-Identifier: Apache-2.0 */
/* Compares several runs: their figures, and the marginals of variables that all runs show. */
#include <math.h>
#include <string.h>

#include "chart/chart_pen.h"
#include "report/page.h"
#include "simd/math.h"

enum { MOST_RUNS = 64 };

#define FAR 3.0 /* smallest difference, in standard errors, that is marked */

typedef struct runs {
    size_t n;
    const gbsi_json_file *file[MOST_RUNS];
} runs;

static void begin_table(gbsi_page *page, const runs *r, const char *caption, const char *rows)
{
    gbsi_put(page->out,
             "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">\n<table>\n"
             "<caption>%s</caption>\n<thead><tr><th scope=\"col\">%s</th>",
             caption, caption, rows);
    for (size_t i = 0; i < r->n; i++) {
        gbsi_put(page->out, "<th scope=\"col\"><a href=\"#run%zu\">", i + 1);
        gbsi_page_text(page, gbsi_page_base_name(r->file[i]->text.name));
        gbsi_page_put(page, "</a></th>");
    }
}

static void put_words(gbsi_page *page, const runs *r)
{
    begin_table(page, r, "The runs", "");
    gbsi_page_put(page, "</tr></thead>\n<tbody>\n<tr><th scope=\"row\">Verdict</th>");
    for (size_t i = 0; i < r->n; i++) {
        page->file = r->file[i];
        gbsi_page_put(page, gbsi_page_is(page, page->file->value, "converged")
                                ? "<td>converged</td>"
                                : "<td><b>not converged</b></td>");
    }
    gbsi_page_put(page, "</tr>\n<tr><th scope=\"row\">Answered</th>");
    for (size_t i = 0; i < r->n; i++) {
        page->file = r->file[i];
        const char *method = gbsi_page_string(page, page->file->value, "method");
        gbsi_page_put(page, "<td>");
        gbsi_page_text(page, method == NULL ? "" : method);
        gbsi_page_put(page, "</td>");
    }
    gbsi_page_put(page, "</tr>\n<tr><th scope=\"row\">Model</th>");
    for (size_t i = 0; i < r->n; i++) {
        page->file = r->file[i];
        const gbsi_json *model = gbsi_page_object(page, page->file->value, "model");
        const char *name = gbsi_page_string(page, model, "name");
        gbsi_page_put(page, "<td>");
        gbsi_page_text(page, name == NULL ? "" : gbsi_page_base_name(name));
        gbsi_page_put(page, "</td>");
    }
    gbsi_page_put(page, "</tr>\n<tr><th scope=\"row\">Evidence</th>");
    for (size_t i = 0; i < r->n; i++) {
        page->file = r->file[i];
        gbsi_page_put(page, "<td>");
        gbsi_page_evidence(page, gbsi_page_object(page, page->file->value, "options"));
        gbsi_page_put(page, "</td>");
    }
    gbsi_page_put(page, "</tr>\n");
}

static void put_figures(gbsi_page *page, const runs *r)
{
    static const struct {
        const char *name, *term;
        int digits; /* significant digits; 0 for a count */
    } rows[] = {{"max_mcse", "Largest standard error", 2},
                {"max_rhat", "Largest R-hat", 5},
                {"min_ess", "Smallest ESS", 3},
                {"chains", "Chains", 0},
                {"sweeps", "Sweeps of each chain", 0},
                {"updates", "Updates", 0},
                {"sampling_seconds", "Seconds", 3},
                {"log_z", "ln Z", 8}};
    put_words(page, r);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        gbsi_put(page->out, "<tr><th scope=\"row\">%s</th>", rows[k].term);
        for (size_t i = 0; i < r->n; i++) {
            page->file = r->file[i];
            gbsi_page_put(page, "<td>");
            if (rows[k].digits == 0) {
                gbsi_page_count(page, gbsi_page_digits(page, page->file->value, rows[k].name));
            } else {
                gbsi_page_number(page, gbsi_page_real(page, page->file->value, rows[k].name),
                                 rows[k].digits);
            }
            gbsi_page_put(page, "</td>");
        }
        gbsi_page_put(page, "</tr>\n");
    }
    gbsi_page_put(page, "</tbody>\n</table>\n</div>\n");
}

/* ---- marginals ------------------------------------------------------------------------------- */

/* Finds the element of an array whose member `member` is `text`. */
static const gbsi_json *find(const gbsi_json *array, const char *member, const char *text)
{
    for (const gbsi_json *e = gbsi_json_first(array); e != NULL; e = gbsi_json_next(array, e)) {
        const gbsi_json *m = gbsi_json_member(e, member);
        if (m != NULL && m->kind == GBSI_JSON_STRING && strcmp(m->text, text) == 0) {
            return e;
        }
    }
    return NULL;
}

static const gbsi_json *find_state(gbsi_page *page, const gbsi_json_file *file, const char *name,
                                   const char *label)
{
    page->file = file;
    const gbsi_json *marginals = gbsi_page_object(page, file->value, "marginals");
    const gbsi_json *variable = find(gbsi_page_array(page, marginals, "shown"), "name", name);
    return find(gbsi_page_array(page, variable, "states"), "state", label);
}

static void put_state(gbsi_page *page, const runs *r, const char *name, const char *label)
{
    double p[MOST_RUNS];
    double error[MOST_RUNS];
    double far = 0.0;
    for (size_t i = 0; i < r->n; i++) {
        const gbsi_json *state = find_state(page, r->file[i], name, label);
        p[i] = gbsi_page_real(page, state, "p");
        error[i] = gbsi_page_real(page, state, "mcse");
        if (state == NULL || !isfinite(p[i])) {
            return;
        }
        error[i] = isfinite(error[i]) ? error[i] : 0.0;
        for (size_t k = 0; k < i; k++) {
            const double of = gbsi_sqrt(error[i] * error[i] + error[k] * error[k]);
            far = of > 0.0 ? gbsi_larger(far, fabs(p[i] - p[k]) / of) : far;
        }
    }
    gbsi_page_put(page,
                  far > FAR ? "<tr class=\"chosen\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
    gbsi_page_text(page, name);
    gbsi_page_put(page, " = ");
    gbsi_page_text(page, label);
    gbsi_page_put(page, "</th>");
    for (size_t i = 0; i < r->n; i++) {
        gbsi_page_put(page, "<td>");
        gbsi_page_fixed(page, p[i], 4);
        gbsi_page_put(page, error[i] > 0.0 ? " ± " : "");
        if (error[i] > 0.0) {
            gbsi_page_fixed(page, error[i], 5);
        }
        gbsi_page_put(page, "</td>");
    }
    gbsi_page_put(page, "<td>");
    gbsi_page_number(page, far, 2);
    gbsi_page_put(page, far > FAR ? " <b>differs</b></td></tr>\n" : "</td></tr>\n");
}

static void put_marginals(gbsi_page *page, const runs *r)
{
    page->file = r->file[0];
    const gbsi_json *marginals = gbsi_page_object(page, page->file->value, "marginals");
    const gbsi_json *shown = gbsi_page_array(page, marginals, "shown");
    begin_table(page, r, "Probabilities of the variables that all pages show", "Variable = state");
    gbsi_page_put(page,
                  "<th scope=\"col\">Largest difference, in standard errors</th></tr></thead>\n"
                  "<tbody>\n");
    for (const gbsi_json *v = gbsi_json_first(shown); v != NULL; v = gbsi_json_next(shown, v)) {
        page->file = r->file[0];
        const char *name = gbsi_page_string(page, v, "name");
        const gbsi_json *states = gbsi_page_array(page, v, "states");
        for (const gbsi_json *s = gbsi_json_first(states); s != NULL;
             s = gbsi_json_next(states, s)) {
            page->file = r->file[0];
            const char *label = gbsi_page_string(page, s, "state");
            if (name != NULL && label != NULL) {
                put_state(page, r, name, label);
            }
        }
    }
    gbsi_page_put(page, "</tbody>\n</table>\n</div>\n");
}

void gbsi_page_compare(gbsi_page *page, const gbsi_json_file *file, size_t n)
{
    runs r = {.n = 0};
    for (size_t i = 0; i < n && r.n < MOST_RUNS; i++) {
        page->file = &file[i];
        const char *schema = gbsi_page_string(page, file[i].value, "schema");
        if (schema != NULL && strcmp(schema, "run/1") == 0) {
            r.file[r.n++] = &file[i];
        }
    }
    if (r.n < 2) {
        return;
    }
    gbsi_page_put(page, "<section>\n<h2>The runs beside one another</h2>\n");
    put_figures(page, &r);
    put_marginals(page, &r);
    gbsi_page_put(page, "</section>\n");
}
