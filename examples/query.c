/* SPDX-License-Identifier: Apache-2.0 */
/* A file is read and asked one question: P(influenza | fever, cough), P(pneumonia | fever, cough).
 *
 *     cc query.c $(pkg-config --cflags --libs gibbsite) -o query && ./query clinic.bif */
#include <stdio.h>

#include <gibbsite/gibbsite.h>

int main(int argc, char **argv)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_answer answer = {.size = sizeof answer};
    if (gbs_model_read(argc > 1 ? argv[1] : "examples/clinic.bif", NULL, &model, &err) < 0 ||
        gbs_query(model, "fever=yes, cough=yes", "influenza,pneumonia", NULL, &answer, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        gbs_model_free(model);
        return 1;
    }
    for (uint32_t i = 0; i < answer.n_variables; ++i) {
        const uint32_t v = answer.variable[i];
        const size_t first = answer.offset[i];
        for (uint32_t a = 0; a < gbs_model_arity(model, v); ++a) {
            (void)printf("P(%s = %s) = %.6f +- %.6f\n", gbs_model_variable_name(model, v),
                         gbs_model_state_label(model, v, a), answer.p[first + a],
                         answer.mcse[first + a]);
        }
    }
    (void)printf("ln P(evidence) = %.6f\n%s\n", answer.log_evidence, answer.verdict);
    gbs_answer_free(&answer);
    gbs_model_free(model);
    return 0;
}
