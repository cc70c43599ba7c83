/* SPDX-License-Identifier: Apache-2.0 */
/* The most probable state and ln Z, of a model built from probabilities: rain, sprinkler and wet
 * grass, given that the grass is wet.
 *
 *     cc map_and_log_z.c $(pkg-config --cflags --libs gibbsite) -o map_and_log_z && ./map_and_log_z
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gibbsite/gibbsite.h>
#include <gibbsite/log_z.h>
#include <gibbsite/map.h>

enum { RAIN, SPRINKLER, GRASS, N };

static void check(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* The states are no and yes. The child's states vary fastest, then the last parent's. */
static gbs_model *make_network(void)
{
    const uint32_t arity[N] = {2, 2, 2};
    const uint32_t parent[2] = {RAIN, SPRINKLER};
    const double p_rain[2] = {0.8, 0.2};
    const double p_sprinkler[4] = {0.6, 0.4, 0.99, 0.01};
    const double p_grass[8] = {1.0, 0.0, 0.1, 0.9, 0.2, 0.8, 0.01, 0.99};
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    check(gbs_builder_new(&builder, &err), &err);
    check(gbs_builder_add_variables(builder, N, arity, NULL, &err), &err);
    check(gbs_builder_add_cpt(builder, RAIN, 0, NULL, 2, p_rain, &err), &err);
    check(gbs_builder_add_cpt(builder, SPRINKLER, 1, parent, 4, p_sprinkler, &err), &err);
    check(gbs_builder_add_cpt(builder, GRASS, 2, parent, 8, p_grass, &err), &err);
    gbs_builder_set_directed(builder);
    check(gbs_builder_build(builder, &model, &err), &err);
    gbs_builder_free(builder);
    return model;
}

int main(void)
{
    gbs_error err = {0};
    gbs_model *model = make_network();
    gbs_evidence *evidence = NULL;
    gbs_map_report map = {.size = sizeof map};
    gbs_log_z_report z = {.size = sizeof z};
    uint32_t state[N];
    check(gbs_evidence_new(model, &evidence, &err), &err);
    check(gbs_evidence_observe(evidence, GRASS, 1, &err), &err);
    check(gbs_map(model, evidence, NULL, NULL, state, &map, &err), &err);
    check(gbs_log_z(model, evidence, NULL, NULL, &z, &err), &err);
    (void)printf("most probable: rain %u, sprinkler %u\n", state[RAIN], state[SPRINKLER]);
    (void)printf("ln of its weight is %.5f, at most %g below the largest\n", map.log_density,
                 map.gap);
    /* Tables sum to one, so Z given evidence is P(evidence). */
    (void)printf("P(wet grass) = %.5f, error of its logarithm %.1g\n", exp(z.log_z), z.error);
    (void)printf("P(this state | wet grass) = %.5f\n",
                 exp(gbs_model_log_density(model, state) - z.log_z));
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return 0;
}
