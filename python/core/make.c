/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are ground from Markov logic or generated from a seed, and comparisons of results in
 * files. */
#include "core.h"
#include "gibbsite/generate.h"
#include "gibbsite/ground.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Markov logic ---------------------------------------------------------------------------- */

static const core_field ground_fields[] = {
    {"n_formulas", CORE_WIDE, offsetof(gbs_ground_report, n_formulas)},
    {"n_facts", CORE_WIDE, offsetof(gbs_ground_report, n_facts)},
    {"n_instances", CORE_REAL, offsetof(gbs_ground_report, n_instances)},
    {"n_groundings", CORE_WIDE, offsetof(gbs_ground_report, n_groundings)},
    {"n_merged", CORE_WIDE, offsetof(gbs_ground_report, n_merged)},
    {"n_factors", CORE_WIDE, offsetof(gbs_ground_report, n_factors)},
    {"n_tables", CORE_WIDE, offsetof(gbs_ground_report, n_tables)},
    {"n_atoms", CORE_REAL, offsetof(gbs_ground_report, n_atoms)},
    {"n_variables", CORE_WIDE, offsetof(gbs_ground_report, n_variables)},
    {"n_similar", CORE_WIDE, offsetof(gbs_ground_report, n_similar)},
    {NULL, 0, 0}};

/* @return a list of the warnings. */
static PyObject *ground_warnings(const gbs_ground_report *report)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list != NULL && i < report->n_warnings; i++) {
        PyObject *text = PyUnicode_FromString(report->warning[i]);
        if (text == NULL || PyList_Append(list, text) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *give_model(gbs_model *model, PyObject *dict)
{
    if (dict == NULL) {
        gbs_model_free(model);
        return NULL;
    }
    if (core_put(dict, "model", core_new_model(model)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* ground(program, its text or None, database, its text or None, query predicates or None,
 * similarity or None, options, progress): a dict. Either both texts are given or neither. */
static PyObject *ground(PyObject *self, PyObject *arguments)
{
    const char *program = NULL;
    const char *database = NULL;
    const char *query = NULL;
    const char *similarity = NULL;
    Py_buffer rules = {.buf = NULL};
    Py_buffer facts = {.buf = NULL};
    PyObject *given = NULL;
    PyObject *progress = NULL;
    core_watch watch;
    gbs_ground_options options;
    gbs_ground_report report = {.size = sizeof report};
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sz*sz*zzOO", &program, &rules, &database, &facts, &query,
                          &similarity, &given, &progress)) {
        return NULL;
    }
    if (core_question("ground", given, &options, sizeof options, NULL) == 0) {
        const gbs_run_callbacks callbacks = {
            .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
        options.query_predicates = query;
        options.similarity = similarity;
        core_unlock(&watch, progress);
        const gbs_status status =
            rules.obj == NULL
                ? gbs_ground(program, database, &options, &callbacks, &model, &report, &err)
                : gbs_ground_memory(program, rules.buf, (size_t)rules.len, database, facts.buf,
                                    (size_t)facts.len, &options, &callbacks, &model, &report, &err);
        core_lock(&watch);
        result = core_settle(&watch, status, &err) < 0
                     ? NULL
                     : give_model(model, core_dict(&report, ground_fields));
        if (result != NULL && core_put(result, "warnings", ground_warnings(&report)) < 0) {
            Py_CLEAR(result);
        }
    }
    if (rules.obj != NULL) {
        PyBuffer_Release(&rules);
    }
    if (facts.obj != NULL) {
        PyBuffer_Release(&facts);
    }
    return result;
}

/* ---- models from a seed ---------------------------------------------------------------------- */

typedef struct shape {
    unsigned side[3]; /* sides of the grid; 0: not given */
    unsigned states[2];
} shape;

/* Defines a function that makes a model. The function sets the grid and numbers of states; all
 * other options are given by name. */
#define MAKER(kind, shaped, ...)                                                           \
    static gbs_status make_##kind(PyObject *given, const shape *s, gbs_model **model,      \
                                  gbs_error *err)                                          \
    {                                                                                      \
        gbs_generate_##kind##_options options;                                             \
        if (core_question("generate " #kind, given, &options, sizeof options, NULL) < 0) { \
            return GBS_ERR_STATE; /* the exception is set */                               \
        }                                                                                  \
        if (shaped) {                                                                      \
            __VA_ARGS__;                                                                   \
        }                                                                                  \
        (void)s;                                                                           \
        return gbs_generate_##kind(&options, model, err);                                  \
    }

MAKER(ising, s->side[0] > 0, memcpy(options.side, s->side, sizeof options.side))
MAKER(potts, s->side[0] > 0, options.rows = s->side[0]; options.columns = s->side[1];
      options.layers = s->side[2]; options.states = s->states[0])
MAKER(ring, 0, (void)0)
MAKER(complete, 0, (void)0)
MAKER(regular, 0, (void)0)
MAKER(powerlaw, 0, (void)0)
MAKER(rbm, 0, (void)0)
MAKER(bayes, s->states[0] > 0, options.min_states = s->states[0]; options.max_states = s->states[1])

static const struct {
    const char *name;
    gbs_status (*make)(PyObject *given, const shape *s, gbs_model **model, gbs_error *err);
} kinds[] = {{"ising", make_ising},       {"potts", make_potts},     {"ring", make_ring},
             {"complete", make_complete}, {"regular", make_regular}, {"powerlaw", make_powerlaw},
             {"rbm", make_rbm},           {"bayes", make_bayes}};

/* generate(kind, (rows, columns, layers), (fewest states, most), options): a model */
static PyObject *generate(PyObject *self, PyObject *arguments)
{
    const char *name = NULL;
    PyObject *given = NULL;
    shape s;
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "s(O&O&O&)(O&O&)O", &name, core_u32, &s.side[0], core_u32,
                          &s.side[1], core_u32, &s.side[2], core_u32, &s.states[0], core_u32,
                          &s.states[1], &given)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            const gbs_status status = kinds[i].make(given, &s, &model, &err);
            return PyErr_Occurred() != NULL ? NULL
                   : status < 0             ? core_fail(status, &err)
                                            : core_new_model(model);
        }
    }
    return PyErr_Format(PyExc_ValueError,
                        "found the kind \"%s\", expected ising, potts, ring, complete, regular, "
                        "powerlaw, rbm or bayes",
                        name);
}

/* ---- results in files ------------------------------------------------------------------------ */

static const core_field comparison_fields[] = {
    {"largest_difference", CORE_REAL, offsetof(gbs_comparison, max_abs)},
    {"mean_difference", CORE_REAL, offsetof(gbs_comparison, mean_abs)},
    {"largest_distance", CORE_REAL, offsetof(gbs_comparison, max_tv)},
    {"mean_distance", CORE_REAL, offsetof(gbs_comparison, mean_tv)},
    {"worst", CORE_COUNT, offsetof(gbs_comparison, worst)},
    {"standard_errors", CORE_REAL, offsetof(gbs_comparison, max_z)},
    {"limit", CORE_REAL, offsetof(gbs_comparison, limit_z)},
    {NULL, 0, 0}};

static PyObject *compare_results(gbs_result *a, gbs_result *b)
{
    gbs_error err = {GBS_OK, ""};
    gbs_comparison found;
    uint32_t n = 0;
    uint32_t first = 0;
    uint32_t left_out[2] = {0, 0};
    gbs_status status = gbs_results_match(a, b, left_out, &err);
    if (status >= 0 && left_out[0] + left_out[1] > 0) {
        (void)snprintf(err.message, sizeof err.message,
                       "expected results of the same variables: %u of the first are not in the "
                       "second, %u of the second not in the first",
                       left_out[0], left_out[1]);
        return core_fail(GBS_ERR_ARGUMENT, &err);
    }
    if (status < 0) {
        return core_fail(status, &err);
    }
    if (a->task == GBS_TASK_PR && b->task == GBS_TASK_PR) {
        return Py_BuildValue("{s:s,s:d,s:d}", "task", "PR", "log10_z", a->log10_z, "other_log10_z",
                             b->log10_z);
    }
    if (a->task == GBS_TASK_MAR && b->task == GBS_TASK_MAR) {
        status = gbs_marginals_compare(&a->marginals, &b->marginals, &found, &err);
        PyObject *dict =
            status < 0 ? core_fail(status, &err) : core_dict(&found, comparison_fields);
        if (dict != NULL && core_put(dict, "task", PyUnicode_FromString("MAR")) < 0) {
            Py_CLEAR(dict);
        }
        return dict;
    }
    status = gbs_result_count_different(a, b, &n, &first, &err);
    return status < 0 ? core_fail(status, &err)
                      : Py_BuildValue("{s:s,s:I,s:I}", "task", gbs_task_word(a->task), "different",
                                      n, "first", first);
}

/* compare(path, path, natural logarithms in the first, in the second, model or None): a dict */
static PyObject *compare(PyObject *self, PyObject *arguments)
{
    const char *path[2] = {NULL, NULL};
    int natural[2] = {0, 0};
    PyObject *object = NULL;
    gbs_result found[2];
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "ssppO", &path[0], &path[1], &natural[0], &natural[1],
                          &object)) {
        return NULL;
    }
    const gbs_model *model = object == Py_None ? NULL : core_model(object);
    if (object != Py_None && model == NULL) {
        return NULL;
    }
    memset(found, 0, sizeof found);
    const gbs_read_options options = {.size = sizeof options};
    for (int i = 0; i < 2 && status >= 0; i++) {
        status = gbs_result_read(path[i], natural[i] ? GBS_LOG_BASE_E : GBS_LOG_BASE_10, &options,
                                 &found[i], &err);
        if (status >= 0 && model != NULL) {
            status = gbs_result_resolve(&found[i], model, &err);
        }
    }
    PyObject *result = status < 0 ? core_fail(status, &err) : compare_results(&found[0], &found[1]);
    gbs_result_free(&found[0]);
    gbs_result_free(&found[1]);
    return result;
}

/* @return whether offsets begin with 0, never decrease, and end at the number of probabilities. */
static int marginals_fit(const Py_buffer *offset, const Py_buffer *p, const Py_buffer *error)
{
    const size_t *at = offset->buf;
    const size_t n = (size_t)offset->len / sizeof *at;
    int fits =
        n > 0 && at[0] == 0 && at[n - 1] == (size_t)p->len / sizeof(double) && p->len == error->len;
    for (size_t i = 1; fits && i < n; i++) {
        fits = at[i - 1] <= at[i];
    }
    return fits;
}

/* compare_marginals(offsets, p, its errors, q, its errors): a dict */
static PyObject *compare_marginals(PyObject *self, PyObject *arguments)
{
    Py_buffer offset;
    Py_buffer p[2];
    Py_buffer error[2];
    gbs_comparison found;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*y*", &offset, &p[0], &error[0], &p[1], &error[1])) {
        return NULL;
    }
    const uint32_t n = (uint32_t)((size_t)offset.len / sizeof(size_t)) - 1;
    gbs_marginals side[2];
    for (int i = 0; i < 2; i++) {
        side[i] = (gbs_marginals){
            .n_variables = n, .offset = offset.buf, .p = p[i].buf, .error = error[i].buf};
    }
    const int fits =
        marginals_fit(&offset, &p[0], &error[0]) && marginals_fit(&offset, &p[1], &error[1]);
    const gbs_status status =
        fits ? gbs_marginals_compare(&side[0], &side[1], &found, &err) : GBS_ERR_ARGUMENT;
    if (!fits) {
        err = (gbs_error){GBS_ERR_ARGUMENT, "the offsets are not those of the marginals"};
    }
    PyBuffer_Release(&offset);
    for (int i = 0; i < 2; i++) {
        PyBuffer_Release(&p[i]);
        PyBuffer_Release(&error[i]);
    }
    PyObject *dict = status < 0 ? core_fail(status, &err) : core_dict(&found, comparison_fields);
    if (dict != NULL && core_put(dict, "task", PyUnicode_FromString("MAR")) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

PyMethodDef core_make_methods[] = {
    {"ground", ground, METH_VARARGS,
     "ground(program, rules, database, facts, query_predicates, similarity, options, progress)"},
    {"generate", generate, METH_VARARGS, "generate(kind, sides, states, options)"},
    {"compare", compare, METH_VARARGS, "compare(path, path, natural, natural, model)"},
    {"compare_marginals", compare_marginals, METH_VARARGS, "compare_marginals(offsets, p, q)"},
    {NULL, NULL, 0, NULL}};
