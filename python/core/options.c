/* SPDX-License-Identifier: Apache-2.0 */
/* Finds options by name in the tables of the library. Options belong to a run, or to a question
 * that has its own struct. */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* The text of a keyword, and its value in the form that the command line takes. */
typedef struct keyword {
    const char *name, *value;
    PyObject *text; /* object that holds `value` */
} keyword;

static int take(PyObject *name, PyObject *value, keyword *k)
{
    k->text = value == Py_True    ? PyUnicode_FromString("yes")
              : value == Py_False ? PyUnicode_FromString("no")
                                  : PyObject_Str(value);
    k->name = core_text(name);
    k->value = k->text == NULL ? NULL : core_text(k->text);
    if (k->name == NULL || k->value == NULL) {
        Py_XDECREF(k->text);
        return -1;
    }
    return 0;
}

static int check(PyObject *options)
{
    if (options != Py_None && !PyDict_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "options must be a dict");
        return -1;
    }
    return 0;
}

static int settle(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)core_fail(status, err);
    }
    return status < 0 ? -1 : 0;
}

/* @return advice for a name that is common elsewhere but is not an option here, or NULL. */
static const char *advice_of(const char *name)
{
    static const char *const rows[][2] = {
#define GBS_ADVICE(words, advice) {words, advice},
#include "gibbsite/advice.def"
#undef GBS_ADVICE
    };
    char word[64];
    (void)snprintf(word, sizeof word, " %.60s ", name);
    for (char *at = word; *at != '\0'; at++) {
        *at = (char)(*at == '_' ? '-' : *at);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strstr(rows[i][0], word) != NULL) {
            return rows[i][1];
        }
    }
    return NULL;
}

/* Fails with the message and, if there is any, the advice of advice_of(). */
static int no_option(gbs_error *err, const char *name)
{
    const char *advice = advice_of(name);
    const size_t n = strlen(err->message);
    if (advice != NULL) {
        (void)snprintf(err->message + n, sizeof err->message - n, ": %s", advice);
    }
    return core_fail_option(err);
}

static int set_of_run(gbs_run_options *options, const keyword *k)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_status status = gbs_option_set(options, k->name, k->value, &err);
    return status < 0 && gbs_option_find(k->name) == NULL ? no_option(&err, k->name)
                                                          : settle(status, &err);
}

int core_options(PyObject *options, gbs_run_options *out)
{
    PyObject *name = NULL;
    PyObject *value = NULL;
    Py_ssize_t at = 0;
    *out = gbs_run_options_default();
    if (options == Py_None || check(options) < 0) {
        return options == Py_None ? 0 : -1;
    }
    while (PyDict_Next(options, &at, &name, &value)) {
        keyword k;
        if (PyBytes_Check(value) && PyUnicode_CompareWithASCIIString(name, "scan") == 0) {
            out->scan = GBS_SCAN_SEQUENCE;
            out->sequence = (const uint32_t *)(const void *)PyBytes_AsString(value);
            out->sequence_length = (size_t)PyBytes_Size(value) / sizeof *out->sequence;
            continue;
        }
        if (take(name, value, &k) < 0) {
            return -1;
        }
        const int result = set_of_run(out, &k);
        Py_DECREF(k.text);
        if (result < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- questions ------------------------------------------------------------------------------- */

static int set_of_question(const gbs_question *question, const keyword *k, void *out,
                           gbs_run_options *run)
{
    gbs_error err = {GBS_OK, ""};
    int known = 0;
    if (gbs_question_find_option(question, k->name) != NULL) {
        known = settle(gbs_question_set(question, out, k->name, k->value, &err), &err) < 0 ? -1 : 1;
    }
    if (known >= 0 && run != NULL && gbs_option_find(k->name) != NULL) {
        known = set_of_run(run, k) < 0 ? -1 : 1;
    }
    if (known == 0) {
        (void)snprintf(err.message, sizeof err.message, "%s has no option \"%.100s\"",
                       gbs_question_name(question), k->name);
        return no_option(&err, k->name);
    }
    return known < 0 ? -1 : 0;
}

int core_question(const char *name, PyObject *options, void *out, size_t size, gbs_run_options *run)
{
    const gbs_question *question = gbs_question_find(name);
    gbs_error err = {GBS_OK, ""};
    PyObject *key = NULL;
    PyObject *value = NULL;
    Py_ssize_t at = 0;
    if (run != NULL) {
        *run = gbs_run_options_default();
    }
    if (check(options) < 0 || settle(gbs_question_init(question, out, size, &err), &err) < 0) {
        return -1;
    }
    while (options != Py_None && PyDict_Next(options, &at, &key, &value)) {
        keyword k;
        if (take(key, value, &k) < 0) {
            return -1;
        }
        const int result = set_of_question(question, &k, out, run);
        Py_DECREF(k.text);
        if (result < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- what there is --------------------------------------------------------------------------- */

static PyObject *describe(const gbs_option *o, const char *default_text)
{
    static const char *const kinds[] = {"choice", "flag", "count", "size", "real", "duration"};
    return Py_BuildValue("{s:s,s:s,s:s,s:z,s:s}", "name", o->field, "kind", kinds[o->kind], "help",
                         o->help, "choices", o->choices, "default", default_text);
}

static PyObject *describe_of_run(size_t i)
{
    const gbs_run_options defaults = gbs_run_options_default();
    const gbs_option *o = gbs_option_at(i);
    char text[64] = "";
    return describe(o, gbs_option_get(&defaults, o->name, text, sizeof text, NULL) < 0 ? "" : text);
}

static PyObject *describe_of_question(const gbs_question *question, size_t i)
{
    const gbs_option *o = gbs_question_option(question, i);
    char text[64] = "";
    const size_t size = gbs_question_size(question);
    void *defaults = PyMem_Malloc(size);
    if (defaults == NULL) {
        return PyErr_NoMemory();
    }
    const int known = gbs_question_init(question, defaults, size, NULL) >= 0 &&
                      gbs_question_get(question, defaults, o->name, text, sizeof text, NULL) >= 0;
    PyMem_Free(defaults);
    return describe(o, known ? text : "");
}

PyObject *core_list_options(PyObject *self, PyObject *name)
{
    const gbs_question *question = NULL;
    (void)self;
    if (name != Py_None) {
        const char *text = core_text(name);
        question = gbs_question_find(text);
        if (text == NULL || question == NULL) {
            return text == NULL ? NULL
                                : PyErr_Format(PyExc_KeyError,
                                               "no question \"%s\" with options of its own", text);
        }
    }
    const size_t n = question == NULL ? gbs_option_count() : gbs_question_n_options(question);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *one = question == NULL ? describe_of_run(i) : describe_of_question(question, i);
        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}
