/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional random fields: learning from sequences, and labelling. */
#include "core.h"
#include "gibbsite/crf.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAPSULE "gibbsite.crf"

static void free_crf(PyObject *capsule)
{
    gbs_crf_free(PyCapsule_GetPointer(capsule, CAPSULE));
}

/* Makes an object of a model. The object owns the model, which is freed on failure. */
static PyObject *give_crf(gbs_crf *crf)
{
    PyObject *capsule = PyCapsule_New(crf, CAPSULE, free_crf);
    if (capsule == NULL) {
        gbs_crf_free(crf);
    }
    return capsule;
}

/* Reads sequences from (name of a file, None) or (name, bytes).
 * @return 0, or -1 with an exception. */
static int take_sequences(PyObject *pair, gbs_sequences **sequences)
{
    const char *name = NULL;
    Py_buffer bytes = {.buf = NULL};
    gbs_error err = {GBS_OK, ""};
    if (!core_is_tuple(pair) || !PyArg_ParseTuple(pair, "sz*", &name, &bytes)) {
        return -1;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status =
        bytes.obj == NULL
            ? gbs_sequences_read(name, sequences, &err)
            : gbs_sequences_read_memory(name, bytes.buf, (size_t)bytes.len, sequences, &err);
    PyEval_RestoreThread(saved);
    if (bytes.obj != NULL) {
        PyBuffer_Release(&bytes);
    }
    if (status < 0) {
        (void)core_fail(status, &err);
    }
    return status < 0 ? -1 : 0;
}

/* ---- learning -------------------------------------------------------------------------------- */

static const core_field learn_fields[] = {
    {"n_labels", CORE_WIDE, offsetof(gbs_crf_learn_report, n_labels)},
    {"n_features", CORE_WIDE, offsetof(gbs_crf_learn_report, n_features)},
    {"n_weights", CORE_WIDE, offsetof(gbs_crf_learn_report, n_weights)},
    {"n_active", CORE_WIDE, offsetof(gbs_crf_learn_report, n_active)},
    {"iterations", CORE_WIDE, offsetof(gbs_crf_learn_report, iterations)},
    {"evaluations", CORE_WIDE, offsetof(gbs_crf_learn_report, evaluations)},
    {"converged", CORE_WIDE_FLAG, offsetof(gbs_crf_learn_report, converged)},
    {"log_likelihood", CORE_REAL, offsetof(gbs_crf_learn_report, log_likelihood)},
    {"objective", CORE_REAL, offsetof(gbs_crf_learn_report, objective)},
    {"gradient_norm", CORE_REAL, offsetof(gbs_crf_learn_report, gradient_norm)},
    {"links", CORE_WIDE, offsetof(gbs_crf_learn_report, n_links)},
    {"steps", CORE_WIDE, offsetof(gbs_crf_learn_report, steps)},
    {"change", CORE_REAL, offsetof(gbs_crf_learn_report, change)},
    {"seconds", CORE_REAL, offsetof(gbs_crf_learn_report, seconds)},
    {NULL, 0, 0}};

typedef struct learning {
    gbs_crf_learn_options options;
    gbs_sequences *data;
    gbs_crf *crf;
    gbs_crf_learn_report report;
    double *error;      /* standard errors; NULL if not wanted or not known */
    gbs_error no_error; /* message that says why there are no standard errors */
    core_curve curve;
} learning;

/* Finds standard errors. If they cannot be found, the call still succeeds. */
static void find_errors(learning *l, const gbs_run_callbacks *callbacks, int stopped)
{
    gbs_crf_learn_options options =
        l->options; /* options in which the time limit is the remaining time */
    gbs_status status = GBS_ERR_UNSUPPORTED;
    options.time_s -= options.time_s > 0.0 ? fmin(l->report.seconds, 0.99 * options.time_s) : 0.0;
    l->error = malloc(gbs_crf_n_weights(l->crf) * sizeof *l->error + 1);
    if (!l->report.converged || stopped || l->error == NULL) {
        strcpy(l->no_error.message,
               l->error == NULL ? "out of memory" : "learning has not converged");
    } else {
        status = gbs_crf_errors(l->crf, l->data, &options, callbacks, l->error, &l->no_error);
    }
    if (status < 0) {
        free(l->error);
        l->error = NULL;
    }
}

static PyObject *give_learnt(learning *l, int stopped)
{
    const Py_ssize_t n = (Py_ssize_t)gbs_crf_n_weights(l->crf);
    PyObject *dict = core_dict(&l->report, learn_fields);
    PyObject *error = l->error == NULL ? Py_NewRef(Py_None) : core_vector(l->error, n);
    PyObject *crf = give_crf(l->crf);
    l->error = NULL;
    l->crf = NULL;
    if (dict == NULL) {
        Py_XDECREF(error);
        Py_XDECREF(crf);
        return NULL;
    }
    const int a = core_put(dict, "errors", error);
    const int b = core_put(dict, "crf", crf);
    if (a < 0 || b < 0 ||
        core_put(dict, "no_errors", PyUnicode_FromString(l->no_error.message)) < 0 ||
        core_put(dict, "curve", core_give_curve(&l->curve)) < 0 ||
        core_put(dict, "n_sequences", PyLong_FromSize_t(gbs_sequences_n(l->data))) < 0 ||
        core_put(dict, "n_tokens", PyLong_FromSize_t(gbs_sequences_n_tokens(l->data))) < 0 ||
        core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* learn_crf(templates, rules of Wapiti, sequences, want errors, want a curve, options, progress): a
 * dict */
static PyObject *learn_crf(PyObject *self, PyObject *arguments)
{
    const char *templates = NULL;
    int wapiti = 0;
    int errors = 0;
    int curve = 0;
    PyObject *o[3];
    core_watch watch;
    gbs_error err = {GBS_OK, ""};
    learning l = {.report = {.size = sizeof l.report}};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "spOppOO", &templates, &wapiti, &o[0], &errors, &curve, &o[1],
                          &o[2]) ||
        core_question("learn crf", o[1], &l.options, sizeof l.options, NULL) < 0 ||
        take_sequences(o[0], &l.data) < 0) {
        return NULL;
    }
    if (curve) {
        l.options.point = core_add_point;
        l.options.point_context = &l.curve;
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, o[2]);
    const gbs_status status =
        gbs_crf_learn(templates, wapiti ? GBS_TEMPLATES_WAPITI : GBS_TEMPLATES_CRFPP, l.data,
                      &l.options, &callbacks, &l.crf, &l.report, &err);
    if (status >= 0 && errors) {
        find_errors(&l, &callbacks, status == GBS_STOPPED);
    }
    core_lock(&watch);
    if (core_settle(&watch, status, &err) == 0) {
        result = give_learnt(&l, status == GBS_STOPPED || watch.interrupted);
    }
    gbs_crf_free(l.crf);
    gbs_sequences_free(l.data);
    free(l.error);
    free(l.curve.value);
    return result;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* read_crf(name, bytes or None) */
static PyObject *read_crf(PyObject *self, PyObject *arguments)
{
    const char *name = NULL;
    Py_buffer bytes = {.buf = NULL};
    gbs_crf *crf = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sz*", &name, &bytes)) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status =
        bytes.obj == NULL ? gbs_crf_read(name, &crf, &err)
                          : gbs_crf_read_memory(name, bytes.buf, (size_t)bytes.len, &crf, &err);
    PyEval_RestoreThread(saved);
    if (bytes.obj != NULL) {
        PyBuffer_Release(&bytes);
    }
    return status < 0 ? core_fail(status, &err) : give_crf(crf);
}

/* write_crf(crf, path) */
static PyObject *write_crf(PyObject *self, PyObject *arguments)
{
    PyObject *capsule = NULL;
    const char *path = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    const gbs_crf *crf = PyArg_ParseTuple(arguments, "Os", &capsule, &path)
                             ? PyCapsule_GetPointer(capsule, CAPSULE)
                             : NULL;
    if (crf == NULL) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status = gbs_crf_write(crf, path, &err);
    PyEval_RestoreThread(saved);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

static PyObject *text(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "surrogateescape");
}

/* Appends an item to a list, and takes over the caller's reference to the item. @return 0, or -1
 * with an exception. */
static int append(PyObject *list, PyObject *item)
{
    const int result = item == NULL ? -1 : PyList_Append(list, item);
    Py_XDECREF(item);
    return result;
}

static PyObject *place(size_t at)
{
    return at == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(at);
}

/* crf_parts(crf): (labels, weights, columns, [(feature, first weight, first weight of pairs)]) */
static PyObject *crf_parts(PyObject *self, PyObject *capsule)
{
    const gbs_crf *crf = PyCapsule_GetPointer(capsule, CAPSULE);
    (void)self;
    if (crf == NULL) {
        return NULL;
    }
    const Py_ssize_t n = (Py_ssize_t)gbs_crf_n_weights(crf);
    PyObject *labels = PyList_New(0);
    PyObject *features = PyList_New(0);
    int failed = labels == NULL || features == NULL;
    for (uint32_t y = 0; !failed && y < gbs_crf_n_labels(crf); y++) {
        failed = append(labels, text(gbs_crf_label_name(crf, y))) < 0;
    }
    for (size_t f = 0; !failed && f < gbs_crf_n_features(crf); f++) {
        const char *name = NULL;
        size_t single = 0;
        size_t pairs = 0;
        failed =
            gbs_crf_feature(crf, f, &name, &single, &pairs, NULL) < 0 ||
            append(features, Py_BuildValue("(NNN)", text(name), place(single), place(pairs))) < 0;
    }
    PyObject *weights = failed ? NULL
                               : core_array((void *)(uintptr_t)gbs_crf_weights(crf), capsule, "d",
                                            sizeof(double), 1, &n, NULL);
    if (weights == NULL) {
        Py_XDECREF(labels);
        Py_XDECREF(features);
        return NULL;
    }
    return Py_BuildValue("(NNIN)", labels, weights, gbs_crf_n_columns(crf), features);
}

/* crf_model(crf, sequences, sequence): the factor graph of a sequence */
static PyObject *crf_model(PyObject *self, PyObject *arguments)
{
    PyObject *capsule = NULL;
    PyObject *pair = NULL;
    Py_ssize_t sequence = 0;
    gbs_sequences *data = NULL;
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    const gbs_crf *crf = PyArg_ParseTuple(arguments, "OOn", &capsule, &pair, &sequence)
                             ? PyCapsule_GetPointer(capsule, CAPSULE)
                             : NULL;
    if (crf == NULL || take_sequences(pair, &data) < 0) {
        return NULL;
    }
    const gbs_status status = gbs_crf_model(crf, data, (size_t)sequence, &model, &err);
    gbs_sequences_free(data);
    return status < 0 ? core_fail(status, &err) : core_new_model(model);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static const core_field label_fields[] = {
    {"links", CORE_WIDE, offsetof(gbs_label_report, n_links)},
    {"proved", CORE_WIDE, offsetof(gbs_label_report, n_proved)},
    {"unconverged", CORE_WIDE, offsetof(gbs_label_report, n_unconverged)},
    {"updates", CORE_WIDE, offsetof(gbs_label_report, updates)},
    {"unseen_tokens", CORE_WIDE, offsetof(gbs_label_report, n_unseen)},
    {"seconds", CORE_REAL, offsetof(gbs_label_report, seconds)},
    {NULL, 0, 0}};

typedef struct labelling {
    const gbs_crf *crf;
    gbs_sequences *data;
    uint32_t *label;
    double *posterior, *log_p; /* probabilities of labels, and of sequences; NULL if not wanted */
    gbs_label_report report;
    gbs_label_scores *scores; /* scores; NULL if no true labels are given */
} labelling;

static PyObject *give_scores(const gbs_label_scores *scores)
{
    size_t n = 0;
    const gbs_entity_score *of = gbs_label_scores_entities(scores, &n);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *row = Py_BuildValue("(NKKKddd)", text(of[i].name), of[i].n_true, of[i].n_found,
                                      of[i].n_correct, of[i].precision, of[i].recall, of[i].f1);
        if (append(list, row) < 0) {
            Py_CLEAR(list);
        }
    }
    return list == NULL ? NULL
                        : Py_BuildValue("(dNK)", gbs_label_scores_accuracy(scores), list,
                                        gbs_label_scores_unseen(scores));
}

/* @return an array [n_sequences + 1] of the first token of each sequence. */
static PyObject *give_first(const gbs_sequences *data)
{
    const Py_ssize_t n = (Py_ssize_t)gbs_sequences_n(data) + 1;
    size_t *first = malloc((size_t)n * sizeof *first);
    if (first == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(first, gbs_sequences_first(data), (size_t)n * sizeof *first);
    return core_array(first, NULL, "L", sizeof *first, 1, &n, NULL);
}

static PyObject *give_labels(labelling *l)
{
    const Py_ssize_t n_tokens = (Py_ssize_t)gbs_sequences_n_tokens(l->data);
    const Py_ssize_t n_sequences = (Py_ssize_t)gbs_sequences_n(l->data);
    const Py_ssize_t shape[2] = {n_tokens, (Py_ssize_t)gbs_crf_n_labels(l->crf)};
    PyObject *dict = core_dict(&l->report, label_fields);
    PyObject *const part[] = {
        core_states(l->label, n_tokens),
        l->posterior == NULL ? Py_NewRef(Py_None)
                             : core_array(l->posterior, NULL, "d", 8, 2, shape, NULL),
        l->log_p == NULL ? Py_NewRef(Py_None) : core_vector(l->log_p, n_sequences),
        give_first(l->data), l->scores == NULL ? Py_NewRef(Py_None) : give_scores(l->scores)};
    static const char *const name[] = {"labels", "posterior", "log_p", "first", "scores"};
    int failed = dict == NULL;
    l->label = NULL;
    l->posterior = NULL;
    l->log_p = NULL;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        if (dict == NULL) {
            Py_XDECREF(part[i]);
        } else if (core_put(dict, name[i], part[i]) < 0) {
            failed = 1;
        }
    }
    if (failed) {
        Py_CLEAR(dict);
    }
    return dict;
}

static gbs_status label_all(labelling *l, const gbs_label_options *options, core_watch *watch,
                            int truth, gbs_error *err)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = watch, .progress = core_on_progress};
    const uint32_t n_columns = gbs_sequences_n_columns(l->data);
    gbs_status status = gbs_crf_label(l->crf, l->data, options, &callbacks, l->label, l->posterior,
                                      l->log_p, &l->report, err);
    if (status >= 0 && truth != INT_MIN) {
        const gbs_status judged = gbs_label_scores_new(
            l->crf, l->data, truth < 0 ? n_columns - (uint32_t)-truth : (uint32_t)truth, l->label,
            &l->scores, err);
        status = judged < 0 ? judged : status;
    }
    return status;
}

/* label(crf, sequences, want probabilities, column of true labels or None, options, progress): a
 * dict. A negative column counts from the last column. */
static PyObject *label(PyObject *self, PyObject *arguments)
{
    PyObject *o[5];
    core_watch watch;
    int sums = 0;
    int truth = INT_MIN;
    gbs_run_options run;
    gbs_error err = {GBS_OK, ""};
    labelling l = {.report = {.size = sizeof l.report}};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOpOOO", &o[0], &o[1], &sums, &o[2], &o[3], &o[4]) ||
        core_options(o[3], &run) < 0 || (l.crf = PyCapsule_GetPointer(o[0], CAPSULE)) == NULL) {
        return NULL;
    }
    if (o[2] != Py_None) {
        const long column = PyLong_AsLong(o[2]);
        if (PyErr_Occurred() != NULL) {
            return NULL;
        }
        if (column <= INT_MIN || column > INT_MAX) {
            return PyErr_Format(PyExc_OverflowError, "there is no column %ld", column);
        }
        truth = (int)column;
    }
    if (take_sequences(o[1], &l.data) == 0) {
        const size_t n = gbs_sequences_n_tokens(l.data);
        const gbs_label_options options = {.size = sizeof options,
                                           .time_s = run.time_s,
                                           .threads = run.threads,
                                           .memory_limit = run.memory_limit,
                                           .run = &run};
        l.label = calloc(n + 1, sizeof *l.label);
        l.posterior = sums ? calloc(n + 1, gbs_crf_n_labels(l.crf) * sizeof *l.posterior) : NULL;
        l.log_p = sums ? calloc(gbs_sequences_n(l.data) + 1, sizeof *l.log_p) : NULL;
        const int lost = l.label == NULL || (sums && (l.posterior == NULL || l.log_p == NULL));
        core_unlock(&watch, o[4]);
        const gbs_status status =
            lost ? GBS_ERR_MEMORY : label_all(&l, &options, &watch, truth, &err);
        core_lock(&watch);
        result = core_settle(&watch, status, &err) < 0 ? NULL : give_labels(&l);
    }
    gbs_label_scores_free(l.scores);
    gbs_sequences_free(l.data);
    free(l.label);
    free(l.posterior);
    free(l.log_p);
    return result;
}

PyMethodDef core_label_methods[] = {
    {"learn_crf", learn_crf, METH_VARARGS,
     "learn_crf(templates, wapiti, sequences, errors, curve, options, progress)"},
    {"read_crf", read_crf, METH_VARARGS, "read_crf(name, bytes)"},
    {"write_crf", write_crf, METH_VARARGS, "write_crf(crf, path)"},
    {"crf_parts", crf_parts, METH_O, "crf_parts(crf): (labels, weights, columns, features)"},
    {"crf_model", crf_model, METH_VARARGS, "crf_model(crf, sequences, sequence)"},
    {"label", label, METH_VARARGS,
     "label(crf, sequences, probabilities, truth, options, progress)"},
    {NULL, NULL, 0, NULL}};
