/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for Markov logic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gibbsite/ground.h"
#include "support/misuse.h"

static void files(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    const gbs_ground_options small = {.size = 8};
    const gbs_run_callbacks shorter = {.size = 1};
    gbs_ground_report little = {.size = 8};
    REFUSED(gbs_ground(NULL, "d", NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_ground("p", NULL, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_ground("p", "d", NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_ground("p", "d", &small, NULL, &model, NULL, &err));
    REFUSED(gbs_ground("p", "d", NULL, &shorter, &model, NULL, &err));
    REFUSED(gbs_ground("p", "d", NULL, NULL, &model, &little, &err));
    assert_int_equal(gbs_ground("/none/none", "d", NULL, NULL, &model, NULL, NULL), GBS_ERR_IO);
    assert_null(model);
}

static void texts(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    const gbs_ground_options past = {.size = sizeof past, .time_s = -1.0};
    const gbs_ground_options never = {.size = sizeof never, .time_s = NAN};
    static const char p[] = "P(t)\n1 P(A)\n";
    const size_t n = sizeof p - 1;
    REFUSED(gbs_ground_memory(NULL, p, n, "d", "", 0, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_ground_memory("p", NULL, n, "d", "", 0, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_ground_memory("p", p, n, NULL, "", 0, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_ground_memory("p", p, n, "d", NULL, 0, NULL, NULL, &model, NULL, &err));
    REFUSED(gbs_ground_memory("p", p, n, "d", "", 0, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_ground_memory("p", p, n, "d", "", 0, &past, NULL, &model, NULL, &err));
    REFUSED(gbs_ground_memory("p", p, n, "d", "", 0, &never, NULL, &model, NULL, &err));
    assert_null(model);
    FINE(gbs_ground_memory("p", p, n, "d", "", 0, NULL, NULL, &model, NULL, &err));
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
