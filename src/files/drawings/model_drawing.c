/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the network that is drawn from a model and its marginals. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "drawings/network.h"
#include "models/formats.h"
#include "store/model.h"

/* Numbers as texts, in place of missing names and labels. */
typedef struct number_texts {
    char name[12];
    char label[GBSI_DRAWN_STATES][12];
} number_texts;

typedef struct maker {
    const gbs_model *model;
    gbs_drawing drawing;
    uint32_t *node;     /* [n_variables] node of each variable, GBSI_NONE if it is not drawn */
    uint32_t *variable; /* [n_nodes] */
    uint8_t *queried;   /* [n_variables] NULL: all are */
    gbsi_drawn_node *drawn;
    number_texts *texts;
    size_t *begin;
    uint32_t *scope;
    gbsi_network network;
} maker;

static void free_maker(maker *m)
{
    GBSI_FREE(m->node, m->variable, m->queried, m->drawn, m->texts, m->begin, m->scope);
}

static gbs_status check(const gbs_model *model, const gbs_drawing *d, gbs_error *err)
{
    if (d->evidence != NULL && d->evidence->model != model) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "the evidence is of another model");
    }
    if (d->p == NULL && d->mcse != NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "a drawing has mcse without p");
    }
    for (size_t i = 0; d->query != NULL && i < d->n_query; i++) {
        if (d->query[i] >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "query: there is no variable %u", d->query[i]);
        }
    }
    return d->query == NULL ? gbsi_network_check(model->n_variables, 0, err) : GBS_OK;
}

/* ---- which variables are drawn --------------------------------------------------------------- */

void gbsi_drawn_near(const gbs_model *model, const uint32_t *query, size_t n_query, uint32_t *node)
{
    enum { NEAR = 1, QUERIED = 2 };
    const uint32_t n = model->n_variables;
    memset(node, 0, n * sizeof *node);
    for (size_t i = 0; i < n_query; i++) {
        node[query[i]] = QUERIED;
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        uint32_t length = 0;
        const uint32_t *scope = NULL;
        bool near = false;
        (void)gbs_model_factor(model, f, &length, &scope);
        for (uint32_t i = 0; i < length; i++) {
            near |= (node[scope[i]] & QUERIED) != 0;
        }
        for (uint32_t i = 0; near && i < length; i++) {
            node[scope[i]] |= NEAR;
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        node[v] = node[v] > 0 ? 0 : GBSI_NONE;
    }
}

/* Numbers the variables that are drawn in the order of the model. */
static gbs_status choose(maker *m, gbs_error *err)
{
    const uint32_t n = m->model->n_variables;
    const gbs_drawing *d = &m->drawing;
    m->node = gbsi_alloc_array_zero(n, sizeof *m->node);
    m->variable = gbsi_alloc_array(n, sizeof *m->variable);
    m->queried = gbsi_alloc_array_zero(n, sizeof *m->queried);
    GBSI_PASS(GBSI_HAVE(err, "drawing", m->node, m->variable, m->queried));
    memset(m->queried, d->query == NULL, n);
    if (d->query != NULL) {
        gbsi_drawn_near(m->model, d->query, d->n_query, m->node);
    }
    for (size_t i = 0; d->query != NULL && i < d->n_query; i++) {
        m->queried[d->query[i]] = 1;
    }
    for (uint32_t v = 0; v < n; v++) {
        if (m->node[v] == 0) {
            m->variable[m->network.n_nodes] = v;
            m->node[v] = (uint32_t)m->network.n_nodes++;
        }
    }
    return GBS_OK;
}

size_t gbsi_drawn_scope(const gbs_model *model, size_t factor, const uint32_t *node, uint32_t *to)
{
    uint32_t length = 0;
    const uint32_t *scope = NULL;
    size_t n = 0;
    (void)gbs_model_factor(model, factor, &length, &scope);
    if (length == 0 || (model->directed && node[scope[length - 1]] == GBSI_NONE)) {
        return 0;
    }
    for (uint32_t i = 0; i < length; i++) {
        if (node[scope[i]] != GBSI_NONE) {
            if (to != NULL) {
                to[n] = node[scope[i]];
            }
            n++;
        }
    }
    return n < 2 ? 0 : n;
}

static gbs_status list_scopes(maker *m, gbs_error *err)
{
    gbsi_network *network = &m->network;
    size_t n_entries = 0;
    for (size_t f = 0; f < m->model->factors.n_factors; f++) {
        const size_t n = gbsi_drawn_scope(m->model, f, m->node, NULL);
        n_entries += n;
        network->n_scopes += n > 0;
    }
    GBSI_PASS(gbsi_network_check(network->n_nodes, n_entries, err));
    m->begin = gbsi_alloc_array_zero((uint64_t)network->n_scopes + 1, sizeof *m->begin);
    m->scope = gbsi_alloc_array(n_entries, sizeof *m->scope);
    GBSI_PASS(GBSI_HAVE(err, "drawing", m->begin, m->scope));
    size_t k = 0;
    for (size_t f = 0; f < m->model->factors.n_factors; f++) {
        if (gbsi_drawn_scope(m->model, f, m->node, NULL) > 0) {
            m->begin[k + 1] =
                m->begin[k] + gbsi_drawn_scope(m->model, f, m->node, m->scope + m->begin[k]);
            k++;
        }
    }
    network->begin = m->begin;
    network->scope = m->scope;
    return GBS_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const char *text_or_number(const char *text, uint32_t number, char made[12])
{
    (void)snprintf(made, 12, "%u", number);
    return text == NULL ? made : text;
}

static void describe(const maker *m, uint32_t v, gbsi_drawn_node *node, number_texts *texts)
{
    uint32_t shown[GBSI_DRAWN_STATES];
    const gbs_drawing *d = &m->drawing;
    const size_t at = m->model->state_offset[v];
    const double *p = d->p == NULL || !m->queried[v] || isnan(d->p[at]) ? NULL : d->p + at;
    const uint32_t arity = m->model->arity[v];
    *node = (gbsi_drawn_node){.id = v, .answered = p != NULL};
    node->name = text_or_number(gbs_model_variable_name(m->model, v), v, texts->name);
    node->observed = d->evidence != NULL && gbs_evidence_state(d->evidence, v, NULL) == 1;
    node->n_states = (uint32_t)gbsi_most_probable(p, arity, shown, GBSI_DRAWN_STATES);
    node->n_more = arity - node->n_states;
    for (uint32_t k = 0; k < node->n_states; k++) {
        const uint32_t a = shown[k];
        const char *label = gbs_model_state_label(m->model, v, a);
        node->state[k] = (gbsi_drawn_state){
            .label = text_or_number(label, a, texts->label[k]),
            .p = p == NULL ? 0.0 : p[a],
            .error = p == NULL || d->mcse == NULL ? 0.0 : d->mcse[at + a],
        };
    }
}

static gbs_status make_nodes(maker *m, gbs_error *err)
{
    const size_t n = m->network.n_nodes;
    m->drawn = gbsi_alloc_array(n, sizeof *m->drawn);
    m->texts = gbsi_alloc_array(n, sizeof *m->texts);
    GBSI_PASS(GBSI_HAVE(err, "drawing", m->drawn, m->texts));
    for (size_t i = 0; i < n; i++) {
        describe(m, m->variable[i], &m->drawn[i], &m->texts[i]);
    }
    m->network.node = m->drawn;
    return GBS_OK;
}

gbs_status gbs_model_draw(const gbs_model *model, const gbs_drawing *drawing, gbs_output *output,
                          gbs_error *err)
{
    gbs_status status = GBS_OK;
    maker m = {.model = model};
    GBSI_NEED(model, output);
    GBSI_IN_STRUCT(drawing, gbs_drawing);
    if (drawing != NULL) {
        m.drawing = *drawing;
    }
    GBSI_PASS(check(model, &m.drawing, err));
    m.network.title = model->directed ? "Bayesian network" : "Graphical model";
    m.network.directed = model->directed;
    GBSI_TRY(choose(&m, err));
    GBSI_TRY(list_scopes(&m, err));
    GBSI_TRY(make_nodes(&m, err));
    status = gbsi_network_svg(&m.network, output, err);

cleanup:
    free_maker(&m);
    return status;
}

gbs_status gbsi_svg_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    (void)options;
    return gbs_model_draw(model, NULL, output, err);
}
