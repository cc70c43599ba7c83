/* SPDX-License-Identifier: Apache-2.0 */
/* Tests maximum likelihood by short chains: the optimum, the updates and distances of fits, and a
 * verdict that finds spoilt runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/spin_mle.h"

/* Four spins: with any scan, fits begin at the distance of the optimum from 0, and end near the
 * optimum. Every step counts at least the updates of one pass. Replicates have different data. */
static void test_fits(void **state)
{
    (void)state;
    static lab_mle m;
    const lab_reproduce_options options = {.seed = 3, .threads = 1};
    laboratory lab = {.options = &options};
    assert_int_equal(lab_mle_measure(&lab, 2, 2, &m, NULL), GBS_OK);
    assert_true(m.slope < 1e-9);
    for (int s = 0; s < LAB_MLE_SCANS; s++) {
        const lab_mle_fits *f = &m.by[s];
        assert_int_equal(f->uncertified, 0);
        assert_true(f->distance[0][0] != f->distance[1][0]);
        for (int k = 0; k < 2; k++) {
            assert_true(f->distance[k][0] == m.by[0].distance[k][0]);
            assert_true(f->distance[k][LAB_MLE_STEPS] < 0.25 * f->distance[k][0]);
            for (int step = 0; step < LAB_MLE_STEPS; step++) {
                const double more = f->updates[k][step + 1] - f->updates[k][step];
                assert_true(more >= 4.0 * LAB_MLE_CHAINS);
            }
        }
    }
    /* at theta = 0 all variables are independent: one update of each, or 4 (3/4)^T <= 0.01 */
    assert_true(m.by[LAB_MLE_OPTIMISED].updates[0][1] == 4.0 * LAB_MLE_CHAINS);
    assert_true(m.by[LAB_MLE_SYSTEMATIC].updates[0][1] == 4.0 * LAB_MLE_CHAINS);
    assert_true(m.by[LAB_MLE_RANDOM].updates[0][1] == 21.0 * LAB_MLE_CHAINS);
}

/* Fits by scans whose lengths are 10, 11 and 30 come near in step 4. */
static void good_run(lab_mle *m)
{
    *m = (lab_mle){.side = 3, .n_replicates = 3};
    for (int s = 0; s < LAB_MLE_SCANS; s++) {
        const double length = s == LAB_MLE_RANDOM ? 30.0 : s == LAB_MLE_SYSTEMATIC ? 11.0 : 10.0;
        for (uint32_t k = 0; k < m->n_replicates; k++) {
            for (int step = 0; step <= LAB_MLE_STEPS; step++) {
                m->by[s].updates[k][step] = length * step * LAB_MLE_CHAINS;
                m->by[s].distance[k][step] = step < 4 ? 1.0 : 0.1;
            }
        }
    }
}

/* The verdict finds each of these: a replicate in which random scans come near equally soon, a
 * replicate in which optimised scans never do, scans hardly shorter than random scans, fits that
 * end farther away, and scans no shorter than systematic scans. */
static void test_verdict(void **state)
{
    (void)state;
    for (int spoilt = 0; spoilt < 6; spoilt++) {
        static laboratory lab;
        static lab_mle m;
        memset(&lab, 0, sizeof lab);
        lab.verdict.holds = 1;
        good_run(&m);
        lab_mle_fits *best = &m.by[LAB_MLE_OPTIMISED];
        m.by[LAB_MLE_RANDOM].distance[1][1] = spoilt == 1 ? 0.2 : 1.0;
        for (int step = 4; step <= LAB_MLE_STEPS && spoilt >= 2; step++) {
            best->distance[2][step] = spoilt == 2 ? 0.26 : 0.1;
            m.by[LAB_MLE_RANDOM].distance[2][step] = best->distance[2][step];
            best->distance[0][step] += spoilt == 4 ? 0.09 : 0.0;
        }
        m.by[LAB_MLE_RANDOM].updates[0][LAB_MLE_STEPS] -=
            spoilt == 3 ? 31.0 * LAB_MLE_STEPS * LAB_MLE_CHAINS : 0.0;
        m.by[LAB_MLE_SYSTEMATIC].updates[0][LAB_MLE_STEPS] -=
            spoilt == 5 ? 3.0 * LAB_MLE_STEPS * LAB_MLE_CHAINS : 0.0;
        lab_mle_judge(&lab, &m);
        const char *fails = strstr(lab.verdict.measured, "[fails]");
        assert_int_equal(lab.verdict.holds, spoilt == 0);
        assert_int_equal(fails != NULL, spoilt != 0);
        assert_true(fails == NULL || strstr(fails + 1, "[fails]") == NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
