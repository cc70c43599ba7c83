/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the figures of partitions of a model or of a lattice, from which tools/scale computes.
 *
 *     scale_figures MODEL [--partition KIND] RANKS...
 *     scale_figures --lattice COLUMNSxROWS[xLAYERS] [--torus] RANKS...
 *
 * The output is one JSON object. A lattice has spins and couplings between nearest neighbours. A
 * lattice may have any size, because no array of its size is in memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "condition/condition.h"
#include "gibbsite/io.h"
#include "graph/partition.h"

typedef struct request {
    const char *model;
    gbsi_grid_shape shape; /* shape of a lattice, or side[0] = 0 for a model */
    gbsi_partition_kind kind;
    uint32_t n_ranks[32];
    unsigned n;
} request;

static gbs_status refuse(gbs_error *err, const char *what)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "%s: expected MODEL or --lattice COLUMNSxROWS[xLAYERS] [--torus], "
                     "[--partition KIND], and numbers of ranks",
                     what);
}

/* Reads a number from 1 to 2^32 - 1. Fails unless one of the characters in `follows` is behind
 * it. @return whether it was read. */
static bool read_number(const char **text, const char *follows, uint32_t *number)
{
    char *end = NULL;
    const unsigned long long n = strtoull(*text, &end, 10);
    if (end == *text || **text == '-' || n == 0 || n > UINT32_MAX ||
        strchr(follows, *end) == NULL) {
        return false;
    }
    *text = end;
    *number = (uint32_t)n;
    return true;
}

static gbs_status read_sides(const char *text, gbsi_grid_shape *shape, gbs_error *err)
{
    const char *at = text;
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        shape->side[d] = 1;
    }
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        if (!read_number(&at, "x", &shape->side[d])) {
            return refuse(err, text);
        }
        if (*at == '\0') {
            return GBS_OK;
        }
        at++;
    }
    return refuse(err, text);
}

static gbs_status read_kind(const char *text, gbsi_partition_kind *kind, gbs_error *err)
{
    for (int k = 0; k < GBSI_N_PARTITION_KINDS; k++) {
        if (text != NULL && strcmp(text, gbsi_partition_name((gbsi_partition_kind)k)) == 0) {
            *kind = (gbsi_partition_kind)k;
            return GBS_OK;
        }
    }
    return refuse(err, text == NULL ? "--partition" : text);
}

static gbs_status read_arguments(int argc, char **argv, request *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool torus = false;
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        if (strcmp(text, "--torus") == 0) {
            torus = true;
        } else if (strcmp(text, "--lattice") == 0 && i + 1 < argc) {
            GBSI_TRY(read_sides(argv[++i], &r->shape, err));
        } else if (strcmp(text, "--partition") == 0) {
            GBSI_TRY(read_kind(argv[++i], &r->kind, err));
        } else if (r->model == NULL && r->shape.side[0] == 0 && text[0] != '-') {
            r->model = text;
        } else if (r->n == sizeof r->n_ranks / sizeof r->n_ranks[0] ||
                   !read_number(&text, "", &r->n_ranks[r->n++])) {
            GBSI_TRY(refuse(err, argv[i]));
        }
    }
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        r->shape.torus[d] = torus && r->shape.side[d] > 2;
    }
    if ((r->model == NULL) == (r->shape.side[0] == 0) || r->n == 0) {
        GBSI_TRY(refuse(err, "arguments"));
    }

cleanup:
    return status;
}

/* ---- printing ------------------------------------------------------------------------------ */

static void print_rank(const char *name, const gbsi_partition_rank *rank)
{
    printf("\"%s\":{\"work\":%" PRIu64 ",\"own\":%" PRIu64 ",\"halo\":%" PRIu64
           ",\"boundary\":%" PRIu64 ",\"neighbours\":%" PRIu64 ",\"messages\":%" PRIu64
           ",\"values\":%" PRIu64 ",\"runs\":%" PRIu64 "}",
           name, rank->work, rank->own, rank->halo, rank->boundary, rank->neighbours,
           rank->messages, rank->values, rank->runs);
}

static void print_figures(const gbsi_partition_figures *figures, const char *kind, bool first)
{
    printf("%s\n{\"ranks\":%" PRIu32 ",\"partition\":\"%s\",\"mean_run\":%.6g,", first ? "" : ",",
           figures->n_parts, kind, gbsi_partition_mean_run(figures));
    print_rank("total", &figures->total);
    printf(",");
    print_rank("most", &figures->most);
    printf("}");
}

/* ---- a lattice ----------------------------------------------------------------------------- */

static gbs_status lattice_figures(const request *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t *side = r->shape.side;
    gbsi_partition_figures figures = {0};
    for (unsigned i = 0; i < r->n; i++) {
        /* checks all numbers of ranks before anything is printed */
        GBSI_TRY(gbsi_partition_grid(&r->shape, r->n_ranks[i], NULL, &figures, err));
        if (i == 0) {
            printf("{\"model\":\"%s %" PRIu32 " x %" PRIu32 " x %" PRIu32
                   "\",\"variables\":%" PRIu64 ",\"ends\":%" PRIu64
                   ",\"batches\":2,\"most_states\":2,\"partitions\":[",
                   r->shape.torus[0] ? "torus" : "lattice", side[0], side[1], side[2],
                   figures.total.own, figures.total.work - figures.total.own);
        }
        print_figures(&figures, "blocks", i == 0);
        gbsi_partition_figures_free(&figures);
    }
    printf("]}\n");

cleanup:
    return status;
}

/* ---- a model ------------------------------------------------------------------------------- */

typedef struct divided {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    uint32_t *color; /* [n_variables] colour of each variable */
    uint32_t n_colors;
    uint32_t *order; /* [n_variables] order in which batches take variables; NULL: by number */
    uint32_t *part;  /* [n_variables] rank of each variable; scratch before that */
} divided;

static void divided_free(divided *d)
{
    gbsi_graph_free(d->graph);
    gbsi_conditioned_free(d->conditioned);
    gbs_model_free(d->model);
    gbsi_free(d->color);
    gbsi_free(d->order);
    gbsi_free(d->part);
}

static gbs_status divided_init(const char *path, divided *d, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool found = false;
    GBSI_TRY(gbs_model_read(path, NULL, &d->model, err));
    GBSI_TRY(gbsi_condition(d->model, NULL, &d->conditioned, err));
    GBSI_TRY(gbsi_graph_new(d->conditioned, NULL, &d->graph, err));
    d->color = gbsi_alloc_array(d->graph->n_variables, sizeof *d->color);
    d->order = gbsi_alloc_array(d->graph->n_variables, sizeof *d->order);
    d->part = gbsi_alloc_array(d->graph->n_variables, sizeof *d->part);
    if (d->color == NULL || d->order == NULL || d->part == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "figures", d->graph->n_variables * sizeof *d->part));
    }
    GBSI_TRY(gbsi_graph_color(d->graph, NULL, d->color, &d->n_colors, err));
    GBSI_TRY(gbsi_graph_local_order(d->graph, d->part, d->order, &found, err));
    if (!found) {
        gbsi_free(d->order);
        d->order = NULL;
    }

cleanup:
    return status;
}

static uint32_t most_states(const gbsi_conditioned *model)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < model->n_variables; v++) {
        most = model->arity[v] > most ? model->arity[v] : most;
    }
    return most;
}

static void print_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (const char *c = slash == NULL ? path : slash + 1; *c != '\0'; c++) {
        if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\') {
            putchar(*c);
        }
    }
}

static gbs_status model_figures(const request *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    divided d = {0};
    gbsi_partition_figures figures = {0};
    GBSI_TRY(divided_init(r->model, &d, err));
    printf("{\"model\":\"");
    print_name(r->model);
    printf("\",\"variables\":%" PRIu32 ",\"ends\":%zu,\"batches\":%" PRIu32
           ",\"most_states\":%" PRIu32 ",\"partitions\":[",
           d.graph->n_variables, gbsi_graph_ends(d.graph, d.graph->n_variables), d.n_colors,
           most_states(d.conditioned));
    for (unsigned i = 0; i < r->n; i++) {
        gbsi_partition_kind used = r->kind;
        GBSI_TRY(gbsi_partition(d.graph, r->n_ranks[i], r->kind, NULL, d.part, &used, err));
        GBSI_TRY(gbsi_partition_figures_of(d.graph, d.color, d.n_colors, d.order, d.part,
                                           r->n_ranks[i], NULL, &figures, err));
        print_figures(&figures, gbsi_partition_name(used), i == 0);
        gbsi_partition_figures_free(&figures);
    }
    printf("]}\n");

cleanup:
    divided_free(&d);
    return status;
}

int main(int argc, char **argv)
{
    request r = {.kind = GBSI_PARTITION_AUTO};
    gbs_error err = {0};
    gbs_status status = read_arguments(argc, argv, &r, &err);
    if (status == GBS_OK) {
        status = r.model != NULL ? model_figures(&r, &err) : lattice_figures(&r, &err);
    }
    if (status != GBS_OK) {
        fprintf(stderr, "scale_figures: %s\n", err.message);
        return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
