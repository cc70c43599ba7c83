/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, charts and verdicts of scans on large models. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "lab/plot.h"
#include "lab/race.h"

#define WINDOW_S 20.0 /* seconds of the window, as in the paper */

static gbs_status write_curves(const laboratory *lab, size_t n, const lab_race *race,
                               gbs_error *err)
{
    lab_table table = lab_table_open(
        lab, "curves.csv",
        "model,scan,sweeps,updates_per_variable,work_s,log_density,min,max,variance", err);
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < race[r].n_racers; i++) {
            const lab_trail *t = &race[r].trail[i];
            for (size_t k = 0; k < t->n; k++) {
                LAB_ROW(&table, race[r].title, race[r].racer[i].name, (double)(UINT64_C(1) << k),
                        t->updates[k], t->work[k], t->density[k], t->low[k], t->high[k],
                        t->variance[k]);
            }
        }
    }
    return lab_table_close(&table);
}

static gbs_status write_work(const laboratory *lab, size_t n, const lab_race *race, gbs_error *err)
{
    lab_table table = lab_table_open(
        lab, "work.csv", "model,scan,variables_per_second_of_work,variables_in_20_s_of_work", err);
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < race[r].n_racers; i++) {
            const double rate = race[r].trail[i].work_rate;
            if (race[r].trail[i].n > 0) {
                LAB_ROW(&table, race[r].title, race[r].racer[i].name, rate, rate * WINDOW_S);
            }
        }
    }
    return lab_table_close(&table);
}

static gbs_status write_times(const laboratory *lab, size_t n, const lab_race *race, gbs_error *err)
{
    lab_table table =
        lab_table_open(lab, "times.csv", "model,scan,threads,variables_per_second,speed_up", err);
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < race[r].n_racers; i++) {
            const lab_trail *t = &race[r].trail[i];
            for (size_t team = 0; team < race[r].n_teams && t->rate[team] > 0.0; team++) {
                LAB_ROW(&table, race[r].title, race[r].racer[i].name, race[r].threads[team],
                        t->rate[team], t->rate[team] / t->rate[0]);
            }
        }
    }
    return lab_table_close(&table);
}

gbs_status lab_races_write(const laboratory *lab, size_t n, const lab_race *race, gbs_error *err)
{
    GBSI_PASS(write_curves(lab, n, race, err));
    GBSI_PASS(write_work(lab, n, race, err));
    return write_times(lab, n, race, err);
}

/* ---- charts --------------------------------------------------------------------------------- */

enum { DENSITY, VARIANCE, WINDOW, SPEED_UP, N_PANELS };

/* Horizontal axis of a chart. */
typedef enum abscissa { BY_UPDATES, BY_WORK, BY_TIME } abscissa;

/* Data that the panels of one race borrow. */
typedef struct drawing {
    char title[N_PANELS][96];
    double gap[LAB_MAX_RACERS][LAB_MAX_CHECKPOINTS];
    double window[LAB_MAX_RACERS][LAB_MAX_TEAMS];
    double speed_up[LAB_MAX_RACERS][LAB_MAX_TEAMS];
    double drawn[LAB_MAX_RACERS];
    gbsi_color color[LAB_MAX_RACERS];
    gbsi_bars bars;
} drawing;

/* Log density of the most probable state of any chain and scan at a checkpoint. */
static double best_of(const lab_race *race)
{
    double best = race->trail[0].high[0];
    for (size_t i = 0; i < race->n_racers; i++) {
        for (size_t k = 0; k < race->trail[i].n; k++) {
            best = race->trail[i].high[k] > best ? race->trail[i].high[k] : best;
        }
    }
    return best;
}

/* Draws the curves of all racers. @param first index of the first panel of the race. */
static void draw_trails(const lab_race *race, abscissa by, drawing *d, lab_plot *plot, size_t first)
{
    const double best = best_of(race);
    for (size_t i = 0; i < race->n_racers; i++) {
        const lab_trail *t = &race->trail[i];
        gbsi_line line = {.color = race->racer[i].color,
                          .dots = true,
                          .n = t->n,
                          .x = by == BY_TIME   ? t->seconds
                               : by == BY_WORK ? t->work
                                               : t->updates,
                          .y = d->gap[i]};
        for (size_t k = 0; k < t->n; k++) {
            d->gap[i][k] = best - t->density[k];
        }
        lab_plot_line(plot, first + DENSITY, line);
        line.y = t->variance;
        lab_plot_line(plot, first + VARIANCE, line);
    }
    plot->panel[first + VARIANCE].y.label = race->between;
}

/* Draws, as a bar for each scan, the number of variables drawn in a window of counted work. */
static void draw_drawn(const lab_race *race, drawing *d, lab_plot *plot, size_t first)
{
    static const char *const none[1] = {""};
    for (size_t i = 0; i < race->n_racers; i++) {
        d->drawn[i] = race->trail[i].work_rate * WINDOW_S / 1e9;
        d->color[i] = race->racer[i].color;
    }
    d->bars = (gbsi_bars){.n_groups = 1,
                          .n_series = race->n_racers,
                          .group = none,
                          .color = d->color,
                          .value = d->drawn};
    plot->panel[first + WINDOW].bars = &d->bars;
}

static void draw_threads(const lab_race *race, drawing *d, lab_plot *plot, size_t first)
{
    const size_t last = race->n_teams - 1;
    const double most = last > 0 ? race->threads[last] : 2.0;
    /* cores that other programs use can make the speed seem to grow more than linearly */
    double fastest = most;
    for (size_t i = 0; i < race->n_racers; i++) {
        const lab_trail *t = &race->trail[i];
        gbsi_line line = {.color = race->racer[i].color,
                          .dots = true,
                          .n = race->n_teams,
                          .x = race->threads,
                          .y = d->window[i]};
        for (size_t team = 0; team < race->n_teams; team++) {
            d->window[i][team] = t->rate[team] * WINDOW_S / 1e9;
            d->speed_up[i][team] = t->rate[team] / t->rate[0];
        }
        fastest = d->speed_up[i][last] > fastest ? d->speed_up[i][last] : fastest;
        lab_plot_line(plot, first + WINDOW, line);
        line.y = d->speed_up[i];
        lab_plot_line(plot, first + SPEED_UP, line);
    }
    for (size_t p = first + WINDOW; p <= first + SPEED_UP; p++) {
        plot->panel[p].x.low = 1.0;
        plot->panel[p].x.high = most;
    }
    plot->panel[first + SPEED_UP].y.low = 0.5;
    plot->panel[first + SPEED_UP].y.high = fastest;
    if (last > 0) {
        lab_plot_guide(plot, first + SPEED_UP, (gbsi_guide){"linear", 1.0, 1.0, 1.0});
    }
}

static gbs_status draw(const laboratory *lab, size_t n, const lab_race *race, abscissa by,
                       const char *title, gbs_error *err)
{
    static const lab_figure_id figure[] = {LAB_PGS_RACE_CURVES, LAB_PGS_RACE_WORK,
                                           LAB_PGS_RACE_TIMES};
    lab_plot plot;
    drawing *d = gbsi_alloc_array(n, sizeof *d);
    GBSI_PASS(GBSI_HAVE(err, "chart", d));
    lab_plot_begin(&plot, figure[by], n);
    plot.figure.title = title != NULL ? title : plot.figure.title;
    const size_t n_panels = plot.figure.n_panels / n;
    for (size_t r = 0; r < n; r++) {
        draw_trails(&race[r], by, &d[r], &plot, r * n_panels);
        if (by == BY_WORK) {
            draw_drawn(&race[r], &d[r], &plot, r * n_panels);
        } else if (by == BY_TIME) {
            draw_threads(&race[r], &d[r], &plot, r * n_panels);
        }
        for (size_t p = 0; p < n_panels; p++) {
            gbsi_panel *panel = &plot.panel[r * n_panels + p];
            (void)snprintf(d[r].title[p], sizeof d[r].title[p], "%s: %s", race[r].title,
                           panel->title);
            panel->title = d[r].title[p];
        }
    }
    for (size_t i = 0; i < race->n_racers; i++) {
        lab_plot_key(&plot,
                     (gbsi_key){race->racer[i].name, race->racer[i].color, GBSI_SOLID, false});
    }
    if (by == BY_WORK) {
        lab_plot_subtitle(&plot,
                          "%u chains together on one core; work: steps that were counted, each at "
                          "a calibrated cost",
                          race->n_chains);
    } else if (by == BY_TIME) {
        lab_plot_subtitle(&plot,
                          "%u chains together, the left two on %.0f thread%s; measured on one "
                          "machine",
                          race->n_chains, race->threads[race->n_teams - 1],
                          race->threads[race->n_teams - 1] > 1.0 ? "s" : "");
    } else {
        lab_plot_subtitle(&plot,
                          "mean log density of %u chains below the highest seen; variance between "
                          "chains of a variable's mean so far",
                          race->n_chains);
    }
    const gbs_status status = lab_plot_write(lab, &plot, err);
    gbsi_free(d);
    return status;
}

gbs_status lab_races_draw(const laboratory *lab, size_t n, const lab_race *race, const char *title,
                          gbs_error *err)
{
    assert(n <= LAB_MAX_RACES);
    GBSI_PASS(draw(lab, n, race, BY_UPDATES, title, err));
    GBSI_PASS(draw(lab, n, race, BY_WORK, NULL, err));
    return draw(lab, n, race, BY_TIME, NULL, err);
}

/* ---- findings ------------------------------------------------------------------------------- */

/* Writes the values of all racers after this many updates, as in "chromatic 1.2, splash, width 1
 * 3.4". @param text [256] out. */
static void list_values(const lab_race *race, bool density, double updates, char *text)
{
    size_t used = 0;
    for (size_t i = 0; i < race->n_racers && used < 256; i++) {
        const lab_trail *t = &race->trail[i];
        const double value =
            lab_trail_at(t, t->updates, density ? t->density : t->variance, updates);
        used += (size_t)snprintf(text + used, 256 - used, density ? "%s%.0f %s" : "%s%.3g %s",
                                 i > 0 ? "; " : "", value, race->racer[i].name);
    }
}

/* Judges the order of the racers after this many updates: all must be ahead of the first racer,
 * and, if expected, the last racer must be ahead of the second. */
static lab_ruling in_order(const lab_race *race, bool density, double updates)
{
    double value[LAB_MAX_RACERS] = {0.0};
    double least = INFINITY; /* smallest lead over the first racer; NaN if any lead is NaN */
    for (size_t i = 0; i < race->n_racers; i++) {
        const lab_trail *t = &race->trail[i];
        value[i] = density ? lab_trail_at(t, t->updates, t->density, updates)
                           : -lab_trail_at(t, t->updates, t->variance, updates);
        const double lead = i > 0 ? value[i] - value[0] : INFINITY;
        least = lead >= least || isnan(least) ? least : lead;
    }
    const double widest = value[race->n_racers - 1] - value[1];
    return race->wider_is_better
               ? LAB_JUDGE(race_widest, .least_lead = least, .widest_lead = widest)
               : LAB_JUDGE(race_order, .least_lead = least);
}

static void note_times(laboratory *lab, const lab_race *race)
{
    const size_t most = race->n_teams - 1;
    const lab_trail *first = &race->trail[0];
    const lab_trail *widest = &race->trail[race->n_racers - 1];
    const double end = widest->seconds[widest->n - 1];
    const double same =
        lab_trail_reaches(first, first->seconds, first->variance, widest->variance[widest->n - 1]);
    char than[64] = "has not";
    if (same < INFINITY) {
        (void)snprintf(than, sizeof than, "has in %.2g s", same);
    }
    const char *order = same < end ? "does not hold by time" : "holds by time as well";
    if (same == INFINITY && first->seconds[first->n - 1] < end) {
        order = "cannot be judged, as the run of the former is too short";
    }
    lab_note(
        lab,
        "%s by the clock, which does not decide the verdict, on %.0f thread%s: %s draws %.0f "
        "million variables per second (%.1f times one thread's), %s %.1f million (%.1f times); the "
        "variance that the latter reaches in %.2g s the former %s: the order by updates %s.",
        race->title, race->threads[most], most > 0 ? "s" : "", race->racer[0].name,
        1e-6 * first->rate[most], first->rate[most] / first->rate[0],
        race->racer[race->n_racers - 1].name, 1e-6 * widest->rate[most],
        widest->rate[most] / widest->rate[0], end, than, order);
}

void lab_race_judge(laboratory *lab, const lab_race *race)
{
    char text[256];
    const lab_trail *first = &race->trail[0];
    const lab_trail *widest = &race->trail[race->n_racers - 1];
    const size_t last = widest->n - 1;
    double updates = INFINITY;
    for (size_t i = 0; i < race->n_racers; i++) {
        const lab_trail *t = &race->trail[i];
        updates = t->updates[t->n - 1] < updates ? t->updates[t->n - 1] : updates;
    }
    list_values(race, true, updates, text);
    const char *order = race->wider_is_better ? ", the last ahead of the second" : "";
    lab_find(lab, in_order(race, true, updates),
             "%s: after %.0f updates of each variable the log density is %s (wanted above that of "
             "chromatic%s)",
             race->title, updates, text, order);
    list_values(race, false, updates, text);
    lab_find(lab, in_order(race, false, updates),
             "the variance between chains is %s (wanted below that of chromatic%s)", text, order);
    /* all curves may end at one level; the numbers of updates that bring them near this level
     * are therefore compared */
    const double level = 0.95 * widest->density[last] + 0.05 * first->density[0];
    const double by_density = lab_trail_reaches(first, first->updates, first->density, level) /
                              lab_trail_reaches(widest, widest->updates, widest->density, level);
    const double by_variance =
        lab_trail_reaches(first, first->updates, first->variance, widest->variance[last]) /
        widest->updates[last];
    lab_find(lab, LAB_JUDGE(race_updates, .by_density = by_density, .by_variance = by_variance),
             "chromatic needs %.1f times the updates of %s to rise 95 %% of the way to its last "
             "log density, and %.1f times to reach its last variance (inf: not in this run; wanted "
             "at least 1.3)",
             by_density, race->racer[race->n_racers - 1].name, by_variance);
    note_times(lab, race);
}
