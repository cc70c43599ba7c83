/* SPDX-License-Identifier: Apache-2.0 */
/* Contests of draws on a small model. */
#include "lab/contest.h"

#include "base/memory.h"

void lab_contender_options(const lab_contender *c, uint32_t n, uint32_t *edge,
                           gbs_run_options *options)
{
    size_t n_edges = 0;
    options->draw = c->draw;
    options->herd_rule = c->rule == 0 ? GBS_HERD_RULE_AUTO : c->rule;
    options->bins = c->bins;
    options->cud_offset = c->offset;
    if (c->draw == GBS_DRAW_BOUNDED_ERROR) {
        options->threshold = c->threshold;
    }
    for (uint32_t s = 2; edge != NULL && s <= c->ring; s++) {
        for (uint32_t i = 0; i < n; i++) {
            edge[2 * n_edges] = i;
            edge[2 * n_edges + 1] = (i + s) % n;
            n_edges++;
        }
    }
    options->dummy_edges = n_edges > 0 ? edge : NULL;
    options->n_dummy_edges = n_edges;
}

static void summarise(lab_contest *contest, size_t i)
{
    lab_curves_quantile(&contest->curves[i], 0.5, contest->median[i]);
    lab_curves_quantile(&contest->curves[i], 0.25, contest->low[i]);
    lab_curves_quantile(&contest->curves[i], 0.75, contest->high[i]);
    lab_curves_quantile(&contest->curves[i], 1.0, contest->max[i]);
}

gbs_status lab_contests_run(laboratory *lab, const gbs_model *model, uint64_t chains,
                            uint64_t sweeps, size_t n, lab_contest *contest, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n_variables = gbs_model_n_variables(model);
    lab_measure measure[LAB_MAX_MEASURES];
    for (size_t m = 0; m < n; m++) {
        measure[m] = (lab_measure){contest[m].statistic, contest[m].context, contest[m].largest};
    }
    for (size_t i = 0; i < contest->n && status == GBS_OK; i++) {
        const lab_contender *c = &contest->contender[i];
        const bool whole_period = c->draw == GBS_DRAW_CUD;
        gbs_run_options options = lab_options(lab, chains, whole_period ? sweeps - 1 : sweeps);
        lab_curves *curves[LAB_MAX_MEASURES];
        uint32_t *edge = gbsi_alloc_array((size_t)n_variables * 2, (c->ring + 1) * sizeof *edge);
        GBSI_PASS(GBSI_HAVE(err, c->name, edge));
        lab_contender_options(c, n_variables, edge, &options);
        for (size_t m = 0; m < n; m++) {
            curves[m] = &contest[m].curves[i];
        }
        status = lab_curves_run_all(lab, c->name, model, &options, n, measure, curves, err);
        gbsi_free(edge);
        for (size_t m = 0; m < n && status == GBS_OK; m++) {
            summarise(&contest[m], i);
        }
    }
    return status;
}

gbs_status lab_contest_run(laboratory *lab, const gbs_model *model, uint64_t chains,
                           uint64_t sweeps, lab_contest *contest, gbs_error *err)
{
    return lab_contests_run(lab, model, chains, sweeps, 1, contest, err);
}

void lab_contest_free(lab_contest *contest)
{
    for (size_t i = 0; i < contest->n; i++) {
        lab_curves_free(&contest->curves[i]);
    }
}

void lab_contest_rows(lab_table *table, const lab_contest *contest)
{
    for (size_t i = 0; i < contest->n; i++) {
        for (size_t k = 0; k < contest->curves[i].n; k++) {
            LAB_ROW(table, contest->title, contest->contender[i].name, contest->curves[i].sweeps[k],
                    contest->median[i][k], contest->low[i][k], contest->high[i][k],
                    contest->max[i][k]);
        }
    }
}

void lab_contest_lines(lab_plot *plot, size_t panel, const lab_contest *contest, bool bands)
{
    for (size_t i = 0; i < contest->n; i++) {
        const lab_contender *c = &contest->contender[i];
        lab_plot_line(plot, panel,
                      (gbsi_line){.label = c->name,
                                  .color = c->color,
                                  .dash = c->dash,
                                  .n = contest->curves[i].n,
                                  .x = contest->curves[i].sweeps,
                                  .y = contest->median[i],
                                  .low = bands ? contest->low[i] : NULL,
                                  .high = bands ? contest->high[i] : NULL});
    }
}

gbs_status lab_contests_write(const laboratory *lab, const char *name, size_t n,
                              const lab_contest *contest, gbs_error *err)
{
    lab_table table = lab_table_open(lab, name, LAB_CONTEST_HEADER, err);
    for (size_t i = 0; i < n; i++) {
        lab_contest_rows(&table, &contest[i]);
    }
    return lab_table_close(&table);
}
