/* SPDX-License-Identifier: Apache-2.0 */
/* An array that owns its memory or borrows the memory of another object, and exports it by the
 * buffer protocol. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DIMS 24

typedef struct array {
    PyObject_HEAD void *data;
    PyObject *owner; /* object that owns the data; NULL: the array owns the data */
    char format[4];
    Py_ssize_t item, n_bytes;
    int n_dims;
    Py_ssize_t shape[MOST_DIMS], strides[MOST_DIMS];
} array;

static PyTypeObject *array_type;

static void array_dealloc(PyObject *self)
{
    array *a = (array *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (a->owner == NULL) {
        free(a->data);
    }
    Py_XDECREF(a->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static int array_get(PyObject *self, Py_buffer *view, int flags)
{
    array *a = (array *)self;
    if ((flags & PyBUF_WRITABLE) != 0) {
        PyErr_SetString(PyExc_BufferError, "results are read-only");
        return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
        Py_ssize_t next = a->item;
        for (int d = a->n_dims; d-- > 0; next *= a->shape[d]) {
            if (a->strides[d] != next && a->shape[d] > 1) {
                PyErr_SetString(PyExc_BufferError, "the array is not contiguous");
                return -1;
            }
        }
    }
    *view = (Py_buffer){.buf = a->data,
                        .obj = Py_NewRef(self),
                        .len = a->n_bytes,
                        .itemsize = a->item,
                        .readonly = 1,
                        .ndim = a->n_dims,
                        .format = (flags & PyBUF_FORMAT) != 0 ? a->format : NULL,
                        .shape = (flags & PyBUF_ND) != 0 ? a->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL};
    return 0;
}

PyObject *core_array(void *data, PyObject *owner, const char *format, Py_ssize_t item, int n_dims,
                     const Py_ssize_t *shape, const Py_ssize_t *strides)
{
    array *a = n_dims > MOST_DIMS
                   ? NULL
                   : (array *)((allocfunc)PyType_GetSlot(array_type, Py_tp_alloc))(array_type, 0);
    if (a == NULL) {
        if (owner == NULL) {
            free(data);
        }
        if (PyErr_Occurred() == NULL) {
            PyErr_SetString(PyExc_ValueError, "more than 24 dimensions");
        }
        return NULL;
    }
    a->data = data;
    a->owner = Py_XNewRef(owner);
    a->item = item;
    a->n_dims = n_dims;
    strncpy(a->format, format, sizeof a->format - 1);
    a->n_bytes = item;
    for (int d = n_dims; d-- > 0;) {
        a->shape[d] = shape[d];
        a->strides[d] = strides != NULL ? strides[d] : a->n_bytes;
        a->n_bytes *= shape[d];
    }
    return (PyObject *)a;
}

PyObject *core_vector(double *data, Py_ssize_t n)
{
    return core_array(data, NULL, "d", sizeof *data, 1, &n, NULL);
}

PyObject *core_states(uint32_t *state, Py_ssize_t n)
{
    return core_array(state, NULL, "I", sizeof *state, 1, &n, NULL);
}

int core_add_array(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)array_dealloc},
        {Py_bf_getbuffer, (void *)array_get},
        {Py_tp_doc, (void *)"Memory of a result, by the buffer protocol."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "gibbsite._core.Array",
                               .basicsize = sizeof(array),
                               .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               .slots = slots};
    array_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return array_type == NULL ? -1 : PyModule_AddObjectRef(module, "Array", (PyObject *)array_type);
}
