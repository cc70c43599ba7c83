/* SPDX-License-Identifier: Apache-2.0 */
/* Noisy pictures, and pictures cut into regions. */
#include "core.h"
#include "gibbsite/denoise.h"
#include "gibbsite/image.h"
#include "gibbsite/map.h"
#include "gibbsite/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pictures -------------------------------------------------------------------------------- */

#define CAPSULE "gibbsite.picture"

static void free_picture(PyObject *capsule)
{
    gbs_image *image = PyCapsule_GetPointer(capsule, CAPSULE);
    gbs_image_free(image);
    free(image);
}

/* Makes an object of a picture. The object owns the picture's memory, which is freed on failure.
 * @return (handle, samples, kind, maxval). */
static PyObject *give_picture(gbs_image *image)
{
    gbs_image *kept = malloc(sizeof *kept);
    if (kept == NULL) {
        gbs_image_free(image);
        return PyErr_NoMemory();
    }
    *kept = *image;
    memset(image, 0, sizeof *image);
    PyObject *capsule = PyCapsule_New(kept, CAPSULE, free_picture);
    if (capsule == NULL) {
        gbs_image_free(kept);
        free(kept);
        return NULL;
    }
    const Py_ssize_t shape[3] = {(Py_ssize_t)kept->height, (Py_ssize_t)kept->width,
                                 (Py_ssize_t)kept->channels};
    PyObject *samples = core_array(kept->sample, capsule, "H", sizeof *kept->sample,
                                   kept->channels == 1 ? 2 : 3, shape, NULL);
    return Py_BuildValue("(NNiI)", capsule, samples, (int)kept->kind, kept->maxval);
}

static gbs_status copy_picture(const gbs_image *from, gbs_image *image, gbs_error *err)
{
    const gbs_status status = gbs_image_new(from->kind, from->width, from->height, from->maxval,
                                            from->n_colors, image, err);
    if (status >= 0) {
        memcpy(image->color, from->color, sizeof image->color);
        memcpy(image->sample, from->sample,
               (size_t)from->width * from->height * from->channels * sizeof *from->sample);
    }
    return status;
}

/* Reads a picture from a handle, (name of a file), or (kind, width, height, largest value,
 * samples).
 * @return 0, or -1 with an exception. */
static int take_picture(PyObject *object, gbs_image *image)
{
    const char *path = NULL;
    int kind = 0;
    uint32_t width = 0;
    uint32_t height = 0;
    uint32_t most = 0;
    Py_buffer samples;
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    if (PyCapsule_IsValid(object, CAPSULE)) {
        status = copy_picture(PyCapsule_GetPointer(object, CAPSULE), image, &err);
    } else if (PyTuple_Check(object) && PyTuple_Size(object) == 1) {
        if (!PyArg_ParseTuple(object, "s", &path)) {
            return -1;
        }
        PyThreadState *saved = PyEval_SaveThread();
        status = gbs_image_read(path, NULL, image, &err);
        PyEval_RestoreThread(saved);
    } else {
        if (!core_is_tuple(object) ||
            !PyArg_ParseTuple(object, "iO&O&O&y*", &kind, core_u32, &width, core_u32, &height,
                              core_u32, &most, &samples)) {
            return -1;
        }
        status = gbs_image_new((gbs_image_kind)kind, width, height, most, 0, image, &err);
        const size_t n = (size_t)width * height * image->channels * sizeof *image->sample;
        if (status >= 0 && (size_t)samples.len == n) {
            memcpy(image->sample, samples.buf, n);
        } else if (status >= 0) {
            PyErr_SetString(PyExc_ValueError, "expected a value of each pixel");
        }
        PyBuffer_Release(&samples);
    }
    if (status < 0) {
        (void)core_fail(status, &err);
    }
    return PyErr_Occurred() != NULL ? -1 : 0;
}

/* read_picture(picture): (handle, samples, kind, maxval) */
static PyObject *read_picture(PyObject *self, PyObject *object)
{
    gbs_image image = {0};
    (void)self;
    if (take_picture(object, &image) < 0) {
        gbs_image_free(&image);
        return NULL;
    }
    return give_picture(&image);
}

/* write_picture(handle, path) */
static PyObject *write_picture(PyObject *self, PyObject *arguments)
{
    PyObject *capsule = NULL;
    const char *path = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    const gbs_image *image = PyArg_ParseTuple(arguments, "Os", &capsule, &path)
                                 ? PyCapsule_GetPointer(capsule, CAPSULE)
                                 : NULL;
    if (image == NULL) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status = gbs_image_write(image, path, NULL, &err);
    PyEval_RestoreThread(saved);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

/* @return the marginals of an executed run: (p, mcse), arrays [variables][states]. */
static PyObject *marginals_of(const gbs_run *run, uint32_t n, uint32_t n_states)
{
    const Py_ssize_t shape[2] = {(Py_ssize_t)n, (Py_ssize_t)n_states};
    gbs_error err = {GBS_OK, ""};
    double *p = malloc((size_t)n * n_states * sizeof *p + 1);
    double *mcse = malloc((size_t)n * n_states * sizeof *mcse + 1);
    const gbs_status status = p == NULL || mcse == NULL
                                  ? GBS_ERR_MEMORY
                                  : gbs_run_marginals_of(run, 0, n, p, mcse, NULL, NULL, &err);
    if (status < 0) {
        free(p);
        free(mcse);
        return status == GBS_ERR_MEMORY ? PyErr_NoMemory() : core_fail(status, &err);
    }
    PyObject *first = core_array(p, NULL, "d", sizeof *p, 2, shape, NULL);
    PyObject *second = core_array(mcse, NULL, "d", sizeof *mcse, 2, shape, NULL);
    return Py_BuildValue("(NN)", first, second);
}

/* ---- noise ----------------------------------------------------------------------------------- */

#define FIRST_FLIP     0.1 /* first value in the search for a parameter, as in gibbsite denoise */
#define FIRST_GAUSS    0.5
#define FIRST_COUPLING 0.5

typedef struct denoising {
    gbs_image noisy, truth; /* noisy picture; true picture, empty if it is not given */
    int has_truth;
    gbs_denoise_options how;
    int find_noise, find_coupling;
    gbs_run_options asked, options; /* options that the caller gave; options that the run uses */
    gbs_denoise_found found;
    gbs_model *model;
    gbs_run *run;
    uint32_t *best; /* levels of the most probable picture; NULL if not wanted */
    double best_density;
    int best_proved;
} denoising;

/* Sets the levels, the kind of noise, the noise level and the coupling. A number that is NAN is
 * estimated. */
static int settle(denoising *d, int levels, int kind, double noise, double coupling)
{
    const uint32_t colors = d->noisy.n_colors < 2 ? 2 : d->noisy.n_colors;
    d->how.levels = levels > 0                                            ? (uint32_t)levels
                    : d->how.labels && d->noisy.kind == GBS_IMAGE_PALETTE ? colors
                                                                          : 2;
    d->how.noise =
        kind < 0 ? gbs_denoise_noise_of(&d->noisy, d->how.levels, d->how.labels) : (gbs_noise)kind;
    d->find_noise = isnan(noise);
    d->find_coupling = isnan(coupling);
    d->how.noise_level = !isnan(noise)                    ? noise
                         : d->how.noise == GBS_NOISE_FLIP ? FIRST_FLIP
                                                          : FIRST_GAUSS;
    d->how.coupling = isnan(coupling) ? FIRST_COUPLING : coupling;
    d->found = (gbs_denoise_found){
        .size = sizeof d->found, .noise_level = d->how.noise_level, .coupling = d->how.coupling};
    return 0;
}

static gbs_status search_best(denoising *d, core_watch *watch, gbs_error *err)
{
    const gbs_map_callbacks callbacks = {
        .size = sizeof callbacks, .context = watch, .progress = core_on_progress};
    gbs_map_report report = {.size = sizeof report};
    gbs_model *model = NULL;
    gbs_status status = gbs_denoise_model(&d->noisy, &d->how, &model, err);
    if (status >= 0) {
        status = gbs_map(model, NULL, &d->asked, &callbacks, d->best, &report, err);
    }
    d->best_density = report.log_density;
    d->best_proved = report.gap == 0.0;
    gbs_model_free(model);
    return status;
}

static gbs_status denoise_all(denoising *d, core_watch *watch, gbs_error *err)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = watch, .progress = core_on_progress};
    gbs_status status = GBS_OK;
    d->how.callbacks = &callbacks;
    if (d->find_noise || d->find_coupling) {
        status =
            gbs_denoise_estimate(&d->noisy, &d->how, d->find_noise, d->find_coupling, d->asked.seed,
                                 (uint32_t)d->asked.threads, &callbacks, &d->found, err);
        d->how.noise_level = d->found.noise_level;
        d->how.coupling = d->found.coupling;
    }
    d->options = d->asked;
    if (status >= 0) {
        status = gbs_denoise_limit(&d->noisy, &d->how, &d->options, err);
    }
    if (status >= 0) {
        status = gbs_denoise_run(&d->noisy, &d->how, &d->options, &d->model, &d->run, err);
    }
    if (status >= 0) {
        status = gbs_run_execute(d->run, &callbacks, err);
    }
    if (status >= 0 && d->best != NULL) {
        const gbs_status searched = search_best(d, watch, err);
        status = searched < 0 ? searched : status;
    }
    d->how.callbacks = NULL;
    return status;
}

static int put_picture(PyObject *dict, const char *name, gbs_status status, gbs_image *image,
                       const gbs_error *err)
{
    return core_put(dict, name, status < 0 ? core_fail(status, err) : give_picture(image));
}

static int put_pictures(PyObject *dict, const denoising *d, const double *p)
{
    static const char *const name[] = {"picture", "mean", "uncertainty"};
    gbs_error err = {GBS_OK, ""};
    for (int what = 0; what < 3; what++) {
        gbs_image image = {0};
        if (what == GBS_DENOISE_MEAN && d->how.labels) {
            continue;
        }
        const gbs_status status =
            gbs_denoise_draw(&d->noisy, &d->how, p, (gbs_denoise_picture)what, &image, &err);
        if (put_picture(dict, name[what], status, &image, &err) < 0) {
            return -1;
        }
    }
    if (d->best != NULL) {
        gbs_image image = {0};
        const gbs_status status =
            gbs_denoise_draw_levels(&d->noisy, &d->how, d->best, &image, &err);
        return put_picture(dict, "best", status, &image, &err) < 0 ||
                       core_put(dict, "best_density", PyFloat_FromDouble(d->best_density)) < 0 ||
                       core_put(dict, "best_proved", PyBool_FromLong(d->best_proved)) < 0
                   ? -1
                   : 0;
    }
    return 0;
}

static const core_field error_fields[] = {
    {"noisy_wrong", CORE_REAL, offsetof(gbs_denoise_errors, noisy_wrong)},
    {"wrong", CORE_REAL, offsetof(gbs_denoise_errors, wrong)},
    {"noisy_square", CORE_REAL, offsetof(gbs_denoise_errors, noisy_square)},
    {"square", CORE_REAL, offsetof(gbs_denoise_errors, square)},
    {"expected_wrong", CORE_REAL, offsetof(gbs_denoise_errors, expected_wrong)},
    {NULL, 0, 0}};

static int put_errors(PyObject *dict, const denoising *d, const double *p)
{
    gbs_denoise_errors errors = {.size = sizeof errors};
    gbs_error err = {GBS_OK, ""};
    if (!d->has_truth) {
        return core_put(dict, "errors", Py_NewRef(Py_None));
    }
    const gbs_status status = gbs_denoise_compare(&d->truth, &d->noisy, &d->how, p, &errors, &err);
    return core_put(dict, "errors",
                    status < 0 ? core_fail(status, &err) : core_dict(&errors, error_fields));
}

static const core_field found_fields[] = {
    {"noise_level", CORE_REAL, offsetof(gbs_denoise_found, noise_level)},
    {"noise_error", CORE_REAL, offsetof(gbs_denoise_found, noise_error)},
    {"coupling", CORE_REAL, offsetof(gbs_denoise_found, coupling)},
    {"coupling_error", CORE_REAL, offsetof(gbs_denoise_found, coupling_error)},
    {"neighbour_noise", CORE_REAL, offsetof(gbs_denoise_found, neighbour_noise)},
    {NULL, 0, 0}};

static PyObject *give_denoised(const denoising *d, int stopped)
{
    const uint32_t n = d->noisy.width * d->noisy.height;
    Py_buffer p = {.buf = NULL};
    PyObject *marginals = marginals_of(d->run, n, d->how.levels);
    PyObject *dict = marginals == NULL ? NULL : core_dict(&d->found, found_fields);
    if (dict == NULL || PyObject_GetBuffer(PyTuple_GetItem(marginals, 0), &p, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(marginals);
        Py_XDECREF(dict);
        return NULL;
    }
    const int failed =
        put_pictures(dict, d, p.buf) < 0 || put_errors(dict, d, p.buf) < 0 ||
        core_put(dict, "marginals", Py_NewRef(marginals)) < 0 ||
        core_put(dict, "noise",
                 PyUnicode_FromString(d->how.noise == GBS_NOISE_FLIP ? "flip" : "gauss")) < 0 ||
        core_put(dict, "levels", PyLong_FromUnsignedLong(d->how.levels)) < 0 ||
        core_put(dict, "summary", core_summary(d->run, &d->options, NULL)) < 0 ||
        core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0;
    PyBuffer_Release(&p);
    Py_DECREF(marginals);
    if (failed) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* denoise(picture, truth or None, (levels, labels, neighbours, kind of noise, its level, coupling,
 * kind of smoothing, truncation), keep chains, want the most probable picture, options,
 * progress): a dict */
static PyObject *denoise(PyObject *self, PyObject *arguments)
{
    PyObject *o[4];
    core_watch watch;
    int levels = 0;
    int labels = 0;
    int neighbours = 0;
    int kind = 0;
    int smoothing = 0;
    int keep = 0;
    int want_best = 0;
    double noise = 0.0;
    double coupling = 0.0;
    double truncation = 0.0;
    gbs_error err = {GBS_OK, ""};
    denoising d;
    PyObject *result = NULL;
    (void)self;
    memset(&d, 0, sizeof d);
    if (!PyArg_ParseTuple(arguments, "OO(ipiiddid)ppOO", &o[0], &o[1], &levels, &labels,
                          &neighbours, &kind, &noise, &coupling, &smoothing, &truncation, &keep,
                          &want_best, &o[2], &o[3]) ||
        core_question("denoise", o[2], &d.how, sizeof d.how, &d.asked) < 0) {
        return NULL;
    }
    d.how.labels = labels;
    d.how.neighbours = (uint32_t)neighbours;
    d.how.smoothing = (gbs_smoothing)smoothing;
    d.how.truncation = truncation;
    d.how.keep_chains = keep;
    d.has_truth = o[1] != Py_None;
    if (take_picture(o[0], &d.noisy) == 0 && (!d.has_truth || take_picture(o[1], &d.truth) == 0) &&
        settle(&d, levels, kind, noise, coupling) == 0) {
        const size_t n = (size_t)d.noisy.width * d.noisy.height;
        d.best = want_best ? calloc(n + 1, sizeof *d.best) : NULL;
        core_unlock(&watch, o[3]);
        const gbs_status status =
            want_best && d.best == NULL ? GBS_ERR_MEMORY : denoise_all(&d, &watch, &err);
        core_lock(&watch);
        if (core_settle(&watch, status, &err) == 0) {
            result = give_denoised(&d, status == GBS_STOPPED);
        }
    }
    gbs_run_free(d.run);
    gbs_model_free(d.model);
    gbs_image_free(&d.noisy);
    gbs_image_free(&d.truth);
    free(d.best);
    return result;
}

/* ---- classes of patches ---------------------------------------------------------------------- */

#define ASPECTS "gibbsite.aspects"

static void free_aspects(PyObject *capsule)
{
    gbs_aspects_free(PyCapsule_GetPointer(capsule, ASPECTS));
}

/* @return (handle, names). The handle owns the classes, which are freed on failure. */
static PyObject *give_aspects(gbs_aspects *aspects)
{
    PyObject *capsule = PyCapsule_New(aspects, ASPECTS, free_aspects);
    if (capsule == NULL) {
        gbs_aspects_free(aspects);
        return NULL;
    }
    const uint32_t n = gbs_aspects_n_classes(aspects);
    PyObject *names = PyList_New(0);
    for (uint32_t k = 0; names != NULL && k < n; k++) {
        const char *text = gbs_aspects_class_name(aspects, k);
        PyObject *name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
        if (name == NULL || PyList_Append(names, name) < 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(name);
    }
    return Py_BuildValue("(NN)", capsule, names);
}

static PyObject *read_aspects(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    gbs_aspects *aspects = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "s", &path)) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status = gbs_aspects_read(path, &aspects, &err);
    PyEval_RestoreThread(saved);
    return status < 0 ? core_fail(status, &err) : give_aspects(aspects);
}

static PyObject *write_aspects(PyObject *self, PyObject *arguments)
{
    PyObject *capsule = NULL;
    const char *path = NULL;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    const gbs_aspects *aspects = PyArg_ParseTuple(arguments, "Os", &capsule, &path)
                                     ? PyCapsule_GetPointer(capsule, ASPECTS)
                                     : NULL;
    if (aspects == NULL) {
        return NULL;
    }
    PyThreadState *saved = PyEval_SaveThread();
    const gbs_status status = gbs_aspects_write(aspects, path, &err);
    PyEval_RestoreThread(saved);
    return status < 0 ? core_fail(status, &err) : Py_NewRef(Py_None);
}

static const core_field aspect_fields[] = {
    {"n_pictures", CORE_WIDE, offsetof(gbs_aspect_report, n_pictures)},
    {"n_patches", CORE_WIDE, offsetof(gbs_aspect_report, n_patches)},
    {"n_classes", CORE_WIDE, offsetof(gbs_aspect_report, n_classes)},
    {"texture_words", CORE_WIDE, offsetof(gbs_aspect_report, n_words[0])},
    {"color_words", CORE_WIDE, offsetof(gbs_aspect_report, n_words[1])},
    {"position_words", CORE_WIDE, offsetof(gbs_aspect_report, n_words[2])},
    {"iterations", CORE_WIDE, offsetof(gbs_aspect_report, iterations)},
    {"converged", CORE_WIDE_FLAG, offsetof(gbs_aspect_report, converged)},
    {"log_likelihood", CORE_REAL, offsetof(gbs_aspect_report, mean_log_like)},
    {"seconds", CORE_REAL, offsetof(gbs_aspect_report, seconds)},
    {NULL, 0, 0}};

/* learn_aspects(path of the list, side, step, want a curve, options, progress): (handle, names,
 * dict). A side or step of 0 means that the caller gave none. */
static PyObject *learn_aspects(PyObject *self, PyObject *arguments)
{
    const char *path = NULL;
    PyObject *given = NULL;
    PyObject *progress = NULL;
    uint32_t side = 0;
    uint32_t step = 0;
    core_watch watch;
    gbs_aspect_options options;
    gbs_aspect_report report = {.size = sizeof report};
    gbs_aspects *aspects = NULL;
    core_curve points = {0};
    int curve = 0;
    gbs_error err = {GBS_OK, ""};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "sO&O&pOO", &path, core_u32, &side, core_u32, &step, &curve,
                          &given, &progress) ||
        core_question("learn aspects", given, &options, sizeof options, NULL) < 0) {
        return NULL;
    }
    options.side = side > 0 ? side : options.side;
    options.step = side > 0 || step > 0 ? step : options.step;
    if (curve) {
        options.point = core_add_point;
        options.point_context = &points;
    }
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &watch, .progress = core_on_progress};
    core_unlock(&watch, progress);
    const gbs_status status =
        gbs_aspects_learn(path, &options, &callbacks, &aspects, &report, &err);
    core_lock(&watch);
    if (core_settle(&watch, status, &err) < 0) {
        free(points.value);
        return NULL;
    }
    PyObject *dict = core_dict(&report, aspect_fields);
    if (dict != NULL && core_put(dict, "curve", core_give_curve(&points)) < 0) {
        Py_CLEAR(dict);
    }
    free(points.value);
    return Py_BuildValue("(NN)", give_aspects(aspects), dict);
}

/* ---- a picture cut into regions -------------------------------------------------------------- */

typedef struct segmenting {
    const gbs_aspects *aspects;
    gbs_image picture, truth; /* picture; label map of the truth, empty if it is not given */
    int has_truth;
    gbs_segment_options how;
    gbs_run_options options;
    gbs_segment *segment;
    gbs_rectangle target;
    int has_target,
        own_scan; /* whether a target is given; whether the scan is optimised for the target */
    gbs_model *model;
    gbs_run *run;
    uint32_t *sequence;
    gbs_scan_report scan;
} segmenting;

static const gbs_rectangle *target_of(const segmenting *s)
{
    return s->has_target ? &s->target : NULL;
}

static int is_stopped(void *watch)
{
    return core_look(watch, NULL);
}

static gbs_status segment_all(segmenting *s, core_watch *watch, gbs_error *err)
{
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = watch, .progress = core_on_progress};
    size_t n = 0;
    gbs_status status =
        gbs_segment_new(s->aspects, &s->picture, &s->how, &callbacks, &s->segment, err);
    if (status >= 0) {
        status = gbs_segment_model(s->segment, &s->model, err);
    }
    if (status >= 0 && s->has_target &&
        s->target.row == UINT32_MAX) { /* a target in the middle of the picture */
        const uint32_t rows = gbs_segment_rows(s->segment);
        const uint32_t columns = gbs_segment_columns(s->segment);
        s->target.row = rows < s->target.rows ? 0 : (rows - s->target.rows) / 2;
        s->target.column = columns < s->target.columns ? 0 : (columns - s->target.columns) / 2;
    }
    if (status >= 0 && s->own_scan) {
        status = gbs_segment_scan(s->segment, &s->target, is_stopped, watch, &s->sequence, &n,
                                  &s->scan, err);
        s->options.scan = GBS_SCAN_SEQUENCE;
        s->options.start = gbs_segment_alone(s->segment);
        s->options.sequence = s->sequence;
        s->options.sequence_length = n;
        s->options.partial_scan = 1;
    }
    if (status >= 0) {
        status = gbs_run_new(s->model, NULL, &s->options, &s->run, err);
    }
    return status < 0 ? status : gbs_run_execute(s->run, &callbacks, err);
}

/* Finds the most frequent class of each patch. Patches outside the target, and patches that a scan
 * never updates, get their most probable class without neighbours. */
static uint32_t *labels_of(const segmenting *s, const double *p)
{
    const uint32_t k = gbs_aspects_n_classes(s->aspects);
    const uint32_t columns = gbs_segment_columns(s->segment);
    const size_t n = (size_t)gbs_segment_rows(s->segment) * columns;
    const gbs_rectangle *t = target_of(s);
    uint32_t *label = malloc(n * sizeof *label + 1);
    if (label == NULL) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    memcpy(label, gbs_segment_alone(s->segment), n * sizeof *label);
    for (size_t i = 0; i < n; i++) {
        const size_t row = i / columns;
        const size_t column = i % columns;
        const int inside = t == NULL || (row >= t->row && row < t->row + t->rows &&
                                         column >= t->column && column < t->column + t->columns);
        for (uint32_t a = 0; a < k && inside; a++) {
            label[i] = p[i * k + a] > p[i * k + label[i]] ? a : label[i];
        }
    }
    return label;
}

static PyObject *copy_states(const uint32_t *state, size_t n)
{
    uint32_t *copy = malloc(n * sizeof *copy + 1);
    if (copy == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(copy, state, n * sizeof *copy);
    return core_states(copy, (Py_ssize_t)n);
}

/* @return an array [classes + 1][3]: number of patches of the class in the truth, number of these
 * patches that are right, number of patches to which the segmentation gives the class. */
static PyObject *score_of(const segmenting *s, const uint32_t *label)
{
    const size_t n = (size_t)gbs_aspects_n_classes(s->aspects) + 1;
    const Py_ssize_t shape[2] = {(Py_ssize_t)n, 3};
    gbs_error err = {GBS_OK, ""};
    gbs_segment_score *score = calloc(n, sizeof *score);
    if (score == NULL) {
        return PyErr_NoMemory();
    }
    const gbs_status status =
        gbs_segment_compare(s->segment, &s->truth, label, target_of(s), score, &err);
    if (status < 0) {
        free(score);
        return core_fail(status, &err);
    }
    return core_array(score, NULL, "L", sizeof(uint64_t), 2, shape, NULL);
}

static int put_drawn(PyObject *dict, const segmenting *s, const uint32_t *label)
{
    static const char *const name[] = {"map", "overlay"};
    gbs_error err = {GBS_OK, ""};
    for (int what = 0; what < 2; what++) {
        gbs_image image = {0};
        const gbs_status status = gbs_segment_draw(s->segment, &s->picture, label, target_of(s),
                                                   (gbs_segment_picture)what, &image, &err);
        if (put_picture(dict, name[what], status, &image, &err) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *give_segments(segmenting *s, int stopped)
{
    const uint32_t rows = gbs_segment_rows(s->segment);
    const uint32_t columns = gbs_segment_columns(s->segment);
    const uint32_t k = gbs_aspects_n_classes(s->aspects);
    const size_t n = (size_t)rows * columns;
    Py_buffer p = {.buf = NULL};
    PyObject *marginals = marginals_of(s->run, (uint32_t)n, k);
    if (marginals == NULL ||
        PyObject_GetBuffer(PyTuple_GetItem(marginals, 0), &p, PyBUF_SIMPLE) < 0) {
        Py_XDECREF(marginals);
        return NULL;
    }
    uint32_t *label = labels_of(s, p.buf);
    PyBuffer_Release(&p);
    double *shares = malloc(k * sizeof *shares);
    if (shares != NULL) {
        memcpy(shares, gbs_segment_shares(s->segment), k * sizeof *shares);
    }
    PyObject *dict = label == NULL || shares == NULL ? NULL : PyDict_New();
    PyObject *share = shares == NULL ? PyErr_NoMemory() : core_vector(shares, (Py_ssize_t)k);
    if (dict == NULL) {
        Py_XDECREF(share);
    } else if (core_put(dict, "shares", share) < 0 || put_drawn(dict, s, label) < 0 ||
               core_put(dict, "labels", copy_states(label, n)) < 0 ||
               core_put(dict, "alone", copy_states(gbs_segment_alone(s->segment), n)) < 0 ||
               core_put(dict, "marginals", Py_NewRef(marginals)) < 0 ||
               core_put(dict, "score", s->has_truth ? score_of(s, label) : Py_NewRef(Py_None)) <
                   0 ||
               core_put(dict, "score_alone",
                        s->has_truth ? score_of(s, gbs_segment_alone(s->segment))
                                     : Py_NewRef(Py_None)) < 0 ||
               core_put(dict, "shape", Py_BuildValue("(II)", rows, columns)) < 0 ||
               core_put(dict, "target",
                        s->has_target ? Py_BuildValue("(IIII)", s->target.row, s->target.column,
                                                      s->target.rows, s->target.columns)
                                      : Py_NewRef(Py_None)) < 0 ||
               core_put(dict, "scan",
                        s->own_scan ? Py_BuildValue("(ndd)", (Py_ssize_t)s->options.sequence_length,
                                                    s->scan.after, s->scan.goal)
                                    : Py_NewRef(Py_None)) < 0 ||
               core_put(dict, "summary", core_summary(s->run, &s->options, NULL)) < 0 ||
               core_put(dict, "stopped", PyBool_FromLong(stopped)) < 0) {
        Py_CLEAR(dict);
    }
    free(label);
    Py_DECREF(marginals);
    return dict;
}

/* segment(aspects, picture, truth or None, target or None, own scan, coupling or NAN, neighbours,
 * options, progress): a dict. A target is (row, column, rows, columns); if row is 2^32 - 1, the
 * target is in the middle. */
static PyObject *segment(PyObject *self, PyObject *arguments)
{
    PyObject *o[6];
    core_watch watch;
    double coupling = 0.0;
    uint32_t neighbours = 0;
    gbs_error err = {GBS_OK, ""};
    segmenting s;
    PyObject *result = NULL;
    (void)self;
    memset(&s, 0, sizeof s);
    s.scan.size = sizeof s.scan;
    if (!PyArg_ParseTuple(arguments, "OOOOpdO&OO", &o[0], &o[1], &o[2], &o[3], &s.own_scan,
                          &coupling, core_u32, &neighbours, &o[4], &o[5]) ||
        (s.aspects = PyCapsule_GetPointer(o[0], ASPECTS)) == NULL ||
        core_question("segment", o[4], &s.how, sizeof s.how, &s.options) < 0) {
        return NULL;
    }
    s.how.time_s = 0.0; /* the time limit is an option of the run, as in gibbsite segment */
    s.how.coupling = isnan(coupling) ? GBS_SEGMENT_COUPLING : coupling;
    s.how.neighbours = neighbours;
    s.has_truth = o[2] != Py_None;
    s.has_target = o[3] != Py_None;
    if (take_picture(o[1], &s.picture) == 0 &&
        (!s.has_truth || take_picture(o[2], &s.truth) == 0) &&
        (!s.has_target ||
         (core_is_tuple(o[3]) &&
          PyArg_ParseTuple(o[3], "O&O&O&O&", core_u32, &s.target.row, core_u32, &s.target.column,
                           core_u32, &s.target.rows, core_u32, &s.target.columns)))) {
        core_unlock(&watch, o[5]);
        const gbs_status status = segment_all(&s, &watch, &err);
        core_lock(&watch);
        if (core_settle(&watch, status, &err) == 0) {
            result = give_segments(&s, status == GBS_STOPPED);
        }
        if (result != NULL) {
            PyObject *model = core_new_model(s.model);
            s.model = NULL;
            gbs_run_free(s.run);
            s.run = NULL;
            if (core_put(result, "model", model) < 0) {
                Py_CLEAR(result);
            }
        }
    }
    gbs_run_free(s.run);
    gbs_model_free(s.model);
    gbs_segment_free(s.segment);
    gbs_image_free(&s.picture);
    gbs_image_free(&s.truth);
    gbs_free(s.sequence);
    return result;
}

PyMethodDef core_picture_methods[] = {
    {"read_picture", read_picture, METH_O, "read_picture(picture)"},
    {"write_picture", write_picture, METH_VARARGS, "write_picture(handle, path)"},
    {"denoise", denoise, METH_VARARGS,
     "denoise(picture, truth, how, estimate, keep_chains, best, options, progress)"},
    {"learn_aspects", learn_aspects, METH_VARARGS,
     "learn_aspects(path, side, step, curve, options, progress)"},
    {"read_aspects", read_aspects, METH_VARARGS, "read_aspects(path)"},
    {"write_aspects", write_aspects, METH_VARARGS, "write_aspects(aspects, path)"},
    {"segment", segment, METH_VARARGS,
     "segment(aspects, picture, truth, target, own_scan, coupling, neighbours, options, progress)"},
    {NULL, NULL, 0, NULL}};
