/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/io.h"
#include "store/builder.h"

/* Makes variables whose names and labels contain the characters at which lists are cut. */
static gbs_model *awkward(void)
{
    static const struct {
        const char *name, *label[3];
    } variable[] = {
        {"smoke", {"yes", "no", NULL}},  {"age", {"young", "adult", "old"}},
        {"a=b", {"x=1", "y", NULL}},     {"crp", {"low", "high", "a|b"}},
        {"crp!", {"low", "high", NULL}}, {"one, two", {"#1", "1", NULL}},
        {"3", {"no", "yes", NULL}},      {"plain", {NULL, NULL, NULL}},
    };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < 8; ++v) {
        const uint32_t arity = v == 7 || variable[v].label[2] != NULL ? 3 : 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_name_variable(b, v, variable[v].name, NULL), GBS_OK);
        if (variable[v].label[0] != NULL) {
            assert_int_equal(gbs_builder_label_states(b, v, variable[v].label, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Writes "smoke: 1 0" for each variable whose weights are not all equal. */
static void describe(const gbs_model *model, const gbs_evidence *evidence, char *text)
{
    text[0] = '\0';
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        uint32_t state = 0;
        const bool seen = gbs_evidence_state(evidence, v, &state);
        const double *log_likelihood = evidence->log_likelihood;
        if (!seen && log_likelihood == NULL) {
            continue;
        }
        char part[128];
        int n = snprintf(part, sizeof part, "%s%u:", text[0] == '\0' ? "" : " ", v);
        bool told = seen;
        for (uint32_t a = 0; a < model->arity[v]; ++a) {
            const double log_weight =
                log_likelihood == NULL ? 0.0 : log_likelihood[model->state_offset[v] + a];
            const double weight = seen && a != state ? 0.0 : exp(log_weight);
            told |= log_weight != 0.0;
            n += snprintf(part + n, sizeof part - (size_t)n, "%s%.3g", a == 0 ? "" : "/", weight);
        }
        if (told) {
            strcat(text, part);
        }
    }
}

static void what_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *list, *evidence;
    } row[] = {
        {"smoke=yes", "0:1/0"},
        {" smoke =\tyes , age= old ", "0:1/0 1:0/0/1"},
        {"smoke=#1", "0:0/1"},
        {"0=no,1=#0", "0:0/1 1:1/0/0"},
        {"age=young|adult", "1:1/1/0"},
        {"age = young | #2", "1:1/0/1"},
        {"age!=young", "1:0/1/1"},
        {"age != young|old", "1:0/1/0"},
        {"smoke!=yes", "0:0/1"},
        {"age=young|adult,age!=young", "1:0/1/0"},
        {"a=b=x=1", "2:1/0"},
        {"a=b=x=1,=3=yes", "2:1/0 6:0/1"},
        {"crp!=low", "4:1/0"}, /* a variable is called "crp!" */
        {"crp!!=low", "4:0/1"},
        {"crp=a|b", "3:0/0/1"},
        {"crp=a|b|low", "3:1/0/1"},
        {"crp=low|a|b", "3:1/0/1"},
        {"crp=#0|a|b", "3:1/0/1"},
        {"one, two=1", "5:0/1"},
        {"one, two=#1", "5:1/0"}, /* a state has the label "#1" */
        {"one, two=#0,smoke=no", "0:0/1 5:1/0"},
        {"plain=2", "7:0/0/1"},
        {"plain=0|2", "7:1/0/1"},
    };
    gbs_model *model = awkward();
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        gbs_error err = {0};
        gbs_evidence *evidence = NULL;
        char found[512];
        assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
        if (gbs_evidence_add(evidence, row[i].list, &err) < 0) {
            fail_msg("%s: %s", row[i].list, err.message);
        }
        describe(model, evidence, found);
        assert_string_equal(found, row[i].evidence);
        gbs_evidence_free(evidence);
    }
    gbs_model_free(model);
}

static void likelihoods(void **state)
{
    (void)state;
    static const struct {
        const char *list, *evidence;
    } row[] = {
        {"smoke=yes:0.8|no:0.2", "0:0.8/0.2"},
        {"smoke = no : 1e-1 | yes : 2", "0:2/0.1"},
        {"age=adult:3", "1:0/3/0"},
        {"a=b=x=1:0.5|y:1,smoke=yes:1", "0:1/0 2:0.5/1"},
        {"plain=0:1|2:0.25", "7:1/0/0.25"},
    };
    gbs_model *model = awkward();
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        gbs_error err = {0};
        gbs_evidence *evidence = NULL;
        char found[512];
        assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
        if (gbs_evidence_add_likelihood(evidence, row[i].list, &err) < 0) {
            fail_msg("%s: %s", row[i].list, err.message);
        }
        describe(model, evidence, found);
        assert_string_equal(found, row[i].evidence);
        gbs_evidence_free(evidence);
    }
    gbs_model_free(model);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        bool weighs;
        const char *list, *part;
    } row[] = {
        {false, "", "expected NAME=STATE"},
        {false, "smoke", "expected NAME=STATE, found 'smoke'"},
        {false, "smoke=", "expected NAME=STATE"},
        {false, "smoke= ", "expected NAME=STATE"},
        {false, "=yes", "expected NAME=STATE"},
        {false, "smoke=yes,", "expected NAME=STATE, found ''"},
        {false, ",smoke=yes", "expected NAME=STATE, found ''"},
        {false, "smok=yes", "did you mean smoke"},
        {false, "smoke=maybe", "its states are yes, no"},
        {false, "smoke=0", "state number 0 is typed with #"},
        {false, "smoke=#2", "its states are yes, no"},
        {false, "smoke=#", "its states are yes, no"},
        {false, "smoke=yes|", "expected a state"},
        {false, "smoke=|yes", "expected a state"},
        {false, "smoke=yes||no", "expected a state"},
        {false, "smoke=yes|yes", "named twice"},
        {false, "smoke!=maybe", "its states are yes, no"},
        {false, "nobody!=yes", "there is no variable \"nobody\""},
        {false, "age!=young|adult|old", "every likelihood is zero"},
        {false, "smoke=yes,smoke=no", "is observed in state yes and in state no"},
        {false, "plain=3", "it has 3 states"},
        {true, "smoke=yes", "expected STATE:NUMBER, found 'yes'"},
        {true, "smoke=yes:", "expected STATE:NUMBER"},
        {true, "smoke=yes:x", "expected STATE:NUMBER"},
        {true, "smoke=:1", "expected a state"},
        {true, "smoke=yes:-1", "is -1, expected a finite number"},
        {true, "smoke=yes:0", "every likelihood is zero"},
    };
    gbs_model *model = awkward();
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        gbs_error err = {0};
        gbs_evidence *evidence = NULL;
        assert_int_equal(gbs_evidence_new(model, &evidence, NULL), GBS_OK);
        const gbs_status status = row[i].weighs
                                      ? gbs_evidence_add_likelihood(evidence, row[i].list, &err)
                                      : gbs_evidence_add(evidence, row[i].list, &err);
        assert_int_equal(status, GBS_ERR_ARGUMENT);
        if (strstr(err.message, row[i].part) == NULL) {
            fail_msg("%s: '%s' is not in '%s'", row[i].list, row[i].part, err.message);
        }
        gbs_evidence_free(evidence);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said),
                                       cmocka_unit_test(likelihoods), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
